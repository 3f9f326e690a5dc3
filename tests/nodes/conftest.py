"""Two nodes with one worker each and a shared PostgreSQL, shared by the tests of a module."""

from collections.abc import Iterator

import pytest

from support.nodes import RunningNode, Traveller, two_nodes
from support.service import free_port


@pytest.fixture(scope="module")
def metrics_port() -> int:
    """Of the first node."""
    return free_port()


@pytest.fixture(scope="module")
def second_metrics_port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def nodes(
    tmp_path_factory: pytest.TempPathFactory,
    database: str,
    metrics_port: int,
    second_metrics_port: int,
) -> Iterator[list[RunningNode]]:
    folder = tmp_path_factory.mktemp("nodes")
    with two_nodes(folder, database, metrics_port, second_metrics_port) as both:
        yield both


@pytest.fixture(scope="module")
def ann(nodes: list[RunningNode]) -> Traveller:
    return Traveller(nodes[0], "ann")
