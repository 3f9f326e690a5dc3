"""A catalog with every kind of content, the keys of its operator, and an empty catalog."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from snapshot.snapshots import Pair
from support.folders import empty_folder
from support.widgets import ndjson, version_line, widget_line
from transfer.import_state import stored_line, take
from widget_catalog.catalog.node.node import Node, open_node


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return Pair(tmp_path_factory.mktemp("keys") / "snapshot")


@pytest.fixture
def origin(node: Node, beside: Path) -> Node:
    for name, content in (("a.js", b"aaa"), ("b.js", b"b" * 5000), ("a.css", b"css")):
        (beside / name).write_bytes(content)
    styled = stored_line("2.0.0", "b.js", cssFile="a.css", manifest='{"unknown": 1}')
    lines = (
        widget_line(versions=[styled, stored_line("1.0.0", "a.js")], downloadCount=7),
        widget_line("acme/hidden", versions=[stored_line("1.0.0", "a.js")], listed=False),
        widget_line("labs/linked", versions=[version_line("1.0.0", yanked=True)]),
    )
    take(node, ndjson(*lines), beside)
    return node


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Node]:
    made = open_node(empty_folder(tmp_path / "target"), is_durable=False)
    yield made
    made.store.close()
