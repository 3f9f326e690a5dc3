"""An idle node hardly uses the database, and still learns at once what others do."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from support.nodes import RunningNode, a_node, environment_of
from support.service import run_command, wait_for
from support.widgets import ndjson, widget_line

pytestmark = pytest.mark.slow

_COMMITS = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
_MEASURED_S = 30
# The server's processes publish their statistics with a delay, and a node's start ends later on a
# busy machine.
_SETTLED_S = 8
_MAX_SETTLING_S = 60


@pytest.fixture(scope="module")
def nodes(
    tmp_path_factory: pytest.TempPathFactory, database: str
) -> Iterator[dict[str, RunningNode]]:
    """Two nodes with a catalog of three widgets. The first was started before."""
    folder = tmp_path_factory.mktemp("nodes")
    file = folder / "widgets.ndjson"
    file.write_bytes(ndjson(*(widget_line(f"acme/w{i}") for i in range(3))))
    done = run_command(
        *("import", str(file), "--data", str(folder / "command")),
        environment=environment_of(database),
    )
    assert done.returncode == 0, done.stderr
    with contextlib.ExitStack() as stack:
        yield {
            name: stack.enter_context(a_node(folder / name, database)) for name in ("one", "two")
        }


def test_an_idle_node_makes_at_most_one_transaction_per_second(
    nodes: dict[str, RunningNode], database: str
) -> None:
    def limit(seconds: int) -> int:
        return seconds * len(nodes)

    # Also counts the two transactions of this connection.
    with psycopg.connect(database, autocommit=True) as connection:
        wait_for(
            lambda: _count_commits(connection, _SETTLED_S) <= limit(_SETTLED_S), _MAX_SETTLING_S
        )
        commits = _count_commits(connection, _MEASURED_S)

    assert 0 < commits <= limit(_MEASURED_S)


def test_counts_of_another_node_are_not_waited_for(nodes: dict[str, RunningNode]) -> None:
    waits = []
    for number in range(1, 6):
        assert nodes["one"].client.post("/api/v1/widgets/acme/w0").status_code == 200
        began = time.monotonic()
        _wait_until_counted(nodes["two"], "acme/w0", number)
        waits.append(time.monotonic() - began)
        time.sleep(0.7)

    # Without notifications it would take ten seconds.
    assert sorted(waits)[len(waits) // 2] < 3


def test_both_nodes_count_at_the_same_time_and_learn_of_each_other(
    nodes: dict[str, RunningNode],
) -> None:
    for _ in range(20):
        for node in nodes.values():
            assert node.client.post("/api/v1/widgets/acme/w1").status_code == 200
        time.sleep(0.1)

    began = time.monotonic()
    for node in nodes.values():
        _wait_until_counted(node, "acme/w1", 40)
    assert time.monotonic() - began < 6


def test_a_change_without_a_notification_is_found_within_seconds(
    nodes: dict[str, RunningNode], database: str, tmp_path: Path
) -> None:
    """As of a process that is killed between its commit and the notification."""
    file = tmp_path / "widgets.ndjson"
    file.write_bytes(ndjson(widget_line("acme/unheard")))
    with psycopg.connect(database, autocommit=True) as connection:
        (name,) = connection.execute("SELECT name FROM channels").fetchone() or ("",)
        connection.execute("UPDATE channels SET name = 'nobody_listens'")
        try:
            done = run_command(
                *("import", str(file), "--data", str(tmp_path / "data")),
                environment=environment_of(database),
            )
        finally:
            connection.execute("UPDATE channels SET name = %s", [name])
    assert done.returncode == 0, done.stderr

    for node in nodes.values():
        _wait_until_shown(node, "acme/unheard")


def _count_commits(connection: "psycopg.Connection[tuple[int]]", seconds: int) -> int:
    before = _read_commits(connection)
    time.sleep(seconds)
    return _read_commits(connection) - before


def _read_commits(connection: "psycopg.Connection[tuple[int]]") -> int:
    (commits,) = connection.execute(_COMMITS).fetchone() or (0,)
    return int(commits)


def _wait_until_shown(node: RunningNode, key: str) -> None:
    wait_for(lambda: node.client.get(f"/api/v1/widgets/{key}").status_code == 200, 30)


def _wait_until_counted(node: RunningNode, key: str, expected: int) -> None:
    path = f"/api/v1/widgets/{key}"
    wait_for(lambda: node.client.get(path).json()["widget"]["downloadCount"] == expected, 60)
