"""Two nodes with one worker each and a shared PostgreSQL, shared by the tests of a module."""

import contextlib
from collections.abc import Iterator

import pytest

from support.nodes import RunningNode, Traveller, a_node, environment_of
from support.people import PASSWORD
from support.service import free_port, run_command

# Allows webhooks to this machine.
TO_HERE = {"webhook_http": "true", "webhook_networks": "127.0.0.0/8"}


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
    done = run_command(
        *("account", "create", "ann", "--email", "ann@example.org", "--password-stdin"),
        *("--data", str(folder / "command")),
        stdin=PASSWORD.encode(),
        environment=environment_of(database),
    )
    assert done.returncode == 0, done.stderr
    with contextlib.ExitStack() as stack:
        ports = {"one": metrics_port, "two": second_metrics_port}
        both = [
            a_node(folder / name, database, metrics_port=str(port), max_lag_s="1", **TO_HERE)
            for name, port in ports.items()
        ]
        yield [stack.enter_context(it) for it in both]


@pytest.fixture(scope="module")
def ann(nodes: list[RunningNode]) -> Traveller:
    return Traveller(nodes[0], "ann")
