"""Two nodes of one worker each, with one PostgreSQL. They are shared by the tests of a module."""

import contextlib
from collections.abc import Iterator

import pytest

from support.nodes import RunningNode, Traveller, a_node, environment_of
from support.people import PASSWORD
from support.postgresql import a_database
from support.service import run_command


@pytest.fixture(scope="module")
def database(postgresql_url: str) -> Iterator[str]:
    with a_database(postgresql_url) as made:
        yield made


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory, database: str) -> Iterator[list[RunningNode]]:
    folder = tmp_path_factory.mktemp("nodes")
    done = run_command(
        *("account", "create", "ann", "--email", "ann@example.org", "--password-stdin"),
        *("--data", str(folder / "command")),
        stdin=PASSWORD.encode(),
        environment=environment_of(database),
    )
    assert done.returncode == 0, done.stderr
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(a_node(folder / name, database)) for name in ("one", "two")]


@pytest.fixture(scope="module")
def ann(nodes: list[RunningNode]) -> Traveller:
    return Traveller(nodes[0], "ann")
