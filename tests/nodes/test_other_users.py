"""Other users of the database server, who may connect but have no permission on the tables."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from support.commands import widget_catalog
from support.nodes import RunningNode, Traveller, environment_of
from support.postgresql import execute
from support.service import run_command
from support.site import SECRET_KEY
from support.widgets import ndjson, widget_line
from widget_catalog.catalog.replica.following import EVERY_S, Task
from widget_catalog.core.db.listening import Listening

JS = b"export function mount() {}\n"
# The numbers of the advisory locks of earlier releases: for publishing and imports.
FORMER_LOCKS = (0x77696467657473, 0x696D706F7274)
FORMER_CHANNEL = "widget_catalog"
NAME = "intruder"
_RUNBOOK = Path(__file__).parents[2] / "docs" / "runbook.md"
TABLES = ("alembic_version", "imports", "leaders", "channels", "changes")


@pytest.fixture(scope="module")
def intruder(postgresql_url: str, database: str) -> str:
    """The address of the database for a user without permissions."""
    with contextlib.suppress(sa.exc.ProgrammingError):  # Another test process has created it.
        execute(postgresql_url, f"CREATE ROLE {NAME} LOGIN")
    return sa.make_url(database).set(username=NAME).render_as_string(hide_password=False)


@contextlib.contextmanager
def connected(url: str, name: str = "somebody") -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(url, autocommit=True, application_name=name) as connection:
        yield connection


def publish(node: RunningNode, ann: Traveller, version: str) -> int:
    return ann.publish("ann/clock", version, JS, node).status_code


def test_who_takes_the_former_advisory_locks_blocks_nothing(
    nodes: list[RunningNode], ann: Traveller, intruder: str, database: str, tmp_path: Path
) -> None:
    file = tmp_path / "widgets.ndjson"
    file.write_bytes(ndjson(widget_line("acme/imported")))
    with connected(intruder) as connection:
        for number in FORMER_LOCKS:
            connection.execute("SELECT pg_try_advisory_lock(%s)", [number])

        assert [publish(it, ann, f"1.{i}.0") for i, it in enumerate(nodes)] == [200, 200]
        done = run_command(
            *("import", str(file), "--data", str(tmp_path / "data")),
            environment=environment_of(database),
        )
        assert done.returncode == 0, done.stderr


def test_who_has_no_permission_on_the_tables_cannot_hold_a_lock_that_blocks_publishing(
    nodes: list[RunningNode], ann: Traveller, intruder: str
) -> None:
    modes = ("SHARE UPDATE EXCLUSIVE", "SHARE", "SHARE ROW EXCLUSIVE", "EXCLUSIVE")
    with connected(intruder) as connection:
        for table in TABLES:
            for mode in (*modes, "ACCESS EXCLUSIVE"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
                    connection.execute(f"LOCK TABLE {table} IN {mode} MODE")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SELECT * FROM {table} FOR UPDATE")
    # Parsing a statement locks its tables before permissions are checked.
    with connected(intruder) as connection, connection.transaction():
        for number, table in enumerate(TABLES):
            connection.execute(f"PREPARE delete_{number} AS DELETE FROM {table}")
            connection.execute(f"PREPARE read_{number} AS SELECT * FROM {table} FOR UPDATE")

        assert publish(nodes[0], ann, "2.0.0") == 200


def test_a_forged_name_of_a_node_causes_no_warning(
    nodes: list[RunningNode], intruder: str, database: str, tmp_path: Path
) -> None:
    before = [it.service.log for it in nodes]
    with connected(intruder, "widget-catalog follower 0badc0de"):
        said = widget_catalog(
            "doctor", "--data", tmp_path / "data", environment=environment_of(database)
        )
        time.sleep(6)  # Nodes check each other every five seconds.

    assert "another secret_key" not in said.out + said.err
    for node, log in zip(nodes, before, strict=True):
        assert "another secret_key" not in node.service.log.removeprefix(log)


def test_a_node_is_notified_by_nodes_and_by_nobody_else(
    nodes: list[RunningNode], ann: Traveller, intruder: str, database: str
) -> None:
    with Listening(database, [SECRET_KEY]) as listening, connected(intruder) as connection:
        listening.start()
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT name FROM channels")
        for channel in (FORMER_CHANNEL, "channels", ""):
            with contextlib.suppress(psycopg.errors.InvalidParameterValue):
                connection.execute("SELECT pg_notify(%s, '')", [channel])
        assert _waits(listening, 1)

        assert publish(nodes[0], ann, "3.0.0") == 200
        assert not _waits(listening, 1)


def test_a_change_is_shown_elsewhere_within_a_fraction_of_the_polling_interval(
    nodes: list[RunningNode], ann: Traveller
) -> None:
    one, two = nodes
    waits = []
    for version in [f"4.{number}.0" for number in range(8)]:
        assert publish(one, ann, version) == 200
        began = time.monotonic()
        while _latest(two) != version:
            assert time.monotonic() - began < 60
        waits.append(time.monotonic() - began)
    # Without notifications it would take half of the interval on average.
    assert sorted(waits)[len(waits) // 2] < EVERY_S[Task.OTHER_NODES] / 5


def test_downloads_are_counted_while_a_migration_locks_the_changes(
    nodes: list[RunningNode], ann: Traveller, database: str
) -> None:
    """A node reads them, and must not take the wait for a lost database."""
    assert publish(nodes[0], ann, "4.9.0") == 200
    statuses = set()
    with (
        connected(database, "a migration") as connection,
        connection.transaction(),
        nodes[0].service.client() as client,
    ):
        connection.execute("LOCK TABLE changes IN ACCESS EXCLUSIVE MODE")
        until = time.monotonic() + 3
        while time.monotonic() < until:
            statuses.add(client.post("/api/v1/widgets/ann/clock").status_code)
            time.sleep(0.05)
    assert statuses == {200}


def test_while_somebody_holds_the_lock_for_publishing_all_else_goes_on(
    nodes: list[RunningNode], ann: Traveller, database: str
) -> None:
    """A user with permissions: by mistake, or a program of ours that hangs."""
    node = nodes[0]
    with connected(database, "a forgotten console") as connection, connection.transaction():
        connection.execute("LOCK TABLE alembic_version IN SHARE UPDATE EXCLUSIVE MODE")

        refused = ann.publish("ann/clock", "5.0.0", JS, node)
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        assert "another process is writing" in refused.json()["error"]
        assert node.client.post("/api/v1/widgets/ann/clock").status_code == 200
        query = _RUNBOOK.read_text().partition("```sql\n")[2].partition("```")[0]
        found = connection.execute(query.encode()).fetchall()
        assert [(pid, name) for pid, name, _ in found] == [
            (connection.info.backend_pid, "a forgotten console")
        ]

    assert publish(node, ann, "5.0.0") == 200


def _latest(node: RunningNode) -> str:
    return str(node.client.get("/api/v1/widgets/ann/clock").json()["latestVersion"])


def _waits(listening: Listening, timeout_s: float) -> bool:
    """Whether there is no notification for so long."""
    began = time.monotonic()
    listening.wait(timeout_s)
    return time.monotonic() - began >= timeout_s
