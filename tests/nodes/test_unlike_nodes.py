"""Nodes that are not like the others: started while the database is down, of an older release, or
with another secret."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.commands import widget_catalog
from support.nodes import RunningNode, Traveller, a_node, environment_of, through
from support.people import request_body
from support.postgresql import execute
from support.service import Service, wait_for
from widget_catalog.core.db.migrate import SCHEMA

JS = b"export function mount() {}\n"
CLOCK = "/api/v1/widgets/ann/clock"


@pytest.fixture(autouse=True)
def clock(nodes: list[RunningNode], ann: Traveller) -> None:
    if nodes[0].client.get(CLOCK).status_code == 404:
        assert ann.publish("ann/clock", "1.0.0", JS, nodes[0]).status_code == 200
    wait_for(lambda: all(it.client.get(CLOCK).status_code == 200 for it in nodes))


def latest(node: RunningNode) -> str:
    return str(node.client.get(CLOCK).json()["latestVersion"])


@pytest.fixture
def migrated(database: str) -> Iterator[None]:
    """By a future release: something was added."""
    execute(database, "ALTER TABLE widgets ADD COLUMN colour text")
    execute(database, "UPDATE alembic_version SET version_num = '9999'")
    execute(database, "UPDATE schema_support SET oldest_writer = '9999'")
    yield
    execute(database, f"UPDATE alembic_version SET version_num = '{SCHEMA}'")
    execute(database, f"UPDATE schema_support SET oldest_writer = '{SCHEMA}'")
    execute(database, "ALTER TABLE widgets DROP COLUMN colour")


@pytest.mark.usefixtures("migrated")
def test_a_node_of_an_older_release_reads_on_and_says_why_it_writes_nothing(
    nodes: list[RunningNode], ann: Traveller, database: str, tmp_path: Path
) -> None:
    node = nodes[0]

    wait_for(lambda: node.client.post(CLOCK).status_code == 503)
    body = request_body("ann/clock", "7.0.0", JS)
    for refused in (node.client.post(CLOCK), ann.post(node, "/api/widgets/publish", body)):
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        assert "older release than the database" in refused.json()["error"]
    assert "migrated by a newer release" in node.service.log
    newer = "ok, but nothing can be changed here: the database is of a newer release\n"
    wait_for(lambda: node.client.get("/healthz/ready").text == newer)

    for path in (CLOCK, "/api/v1/widgets/search?q=clock", "/"):
        assert node.client.get(path).status_code == 200, path
    said = widget_catalog("serve", "--data", tmp_path / "new", environment=environment_of(database))
    assert said.code == 1
    assert "made by a newer release" in said.err


def test_a_node_goes_on_writing_when_it_knows_the_schema_again(nodes: list[RunningNode]) -> None:
    wait_for(lambda: nodes[0].client.post(CLOCK).status_code == 200)


def test_nodes_and_doctor_warn_of_a_node_with_another_secret(
    nodes: list[RunningNode], database: str, tmp_path: Path
) -> None:
    with a_node(
        tmp_path / "three", database, secret_key="another-secret-of-forty-characters-------"
    ):
        wait_for(lambda: "a node with another secret_key" in nodes[0].service.log)
        said = widget_catalog(
            "doctor", "--data", tmp_path / "data", environment=environment_of(database)
        )
        assert said.code == 1
        assert "a node with another secret_key" in said.out + said.err


def test_a_node_that_is_started_while_the_database_is_down_shows_what_it_had(
    nodes: list[RunningNode], ann: Traveller, database: str
) -> None:
    one, two = nodes
    port, data = two.service.port, two.service.data
    assert two.service.stop() == 0
    assert ann.publish("ann/clock", "1.1.0", JS, one).status_code == 200
    two.relay.cut()

    environment = environment_of(through(two.relay, database))
    restarted = Service(data, port=port, environment=environment)
    try:
        assert "Warning: The database cannot be used: " in restarted.log
        assert latest(two) == "1.0.0"
        assert two.client.post(CLOCK).status_code == 503
        assert two.client.get("/api/health").json()["checks"]["database"] == "down"
        ready = two.client.get("/healthz/ready")
        assert (ready.status_code, ready.text[:26]) == (200, "ok, but the database has n")

        two.relay.restore()

        wait_for(lambda: latest(two) == "1.1.0")
        wait_for(lambda: two.client.post(CLOCK).status_code == 200)
        wait_for(lambda: two.client.get("/healthz/ready").text == "ok\n")
        assert ann.publish("ann/clock", "1.2.0", JS, two).status_code == 200
    finally:
        restarted.kill()
        two.relay.restore()
