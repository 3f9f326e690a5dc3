"""A real catalog to be mirrored, shared by the tests of a module."""

from collections.abc import Iterator

import pytest

from mirror.mirrors import file_lines
from support.folders import empty_folder
from support.service import Service, running_service
from support.widgets import import_widgets
from widget_catalog.catalog.node.node import Node, open_node


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    """The upstream, as its operator sees it."""
    folder = tmp_path_factory.mktemp("origin")
    node = open_node(empty_folder(folder / "data"), is_durable=False)
    import_widgets(node, *file_lines(folder / "files"), base_folder=folder / "files")
    yield node
    node.store.close()


@pytest.fixture(scope="module")
def service(origin: Node) -> Iterator[Service]:
    with running_service(origin.folder.path) as running:
        yield running
