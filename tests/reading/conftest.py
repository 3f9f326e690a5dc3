"""A data folder that is opened without a server, and its parts."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from widget_catalog.reading.revision import Counts
from widget_catalog.wiring import Node, open_node, prepare_node


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of an empty catalog, to be copied: to make one takes ten times as long."""
    node = prepare_node(tmp_path_factory.mktemp("prepared") / "data")
    node.store.close()
    return node.folder.database


@pytest.fixture
def node(tmp_path: Path, prepared: Path) -> Iterator[Node]:
    folder = tmp_path / "data"
    for needed in (folder / "bundles", folder / "run"):
        needed.mkdir(parents=True)
    shutil.copy(prepared, folder)
    made = open_node(folder, is_durable=False)
    yield made
    made.store.close()


@pytest.fixture
def counts(tmp_path: Path) -> Counts:
    return Counts(tmp_path / "counts")
