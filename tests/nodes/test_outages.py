"""The database is down: reads continue everywhere, writes fail cleanly, and all nodes recover."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from support.nodes import RunningNode, Traveller
from support.people import request_body
from support.service import wait_for
from widget_catalog.core.db.file_lock import file_lock

JS = b"export function mount() {}\n"
READY = "/healthz/ready"
CLOCK = "/api/v1/widgets/ann/clock"
# As at a failover.
BACK_S = 10.0


@pytest.fixture(autouse=True)
def all_is_well(nodes: list[RunningNode], ann: Traveller) -> Iterator[None]:
    if nodes[0].client.get(CLOCK).status_code == 404:
        assert ann.publish("ann/clock", "1.0.0", JS, nodes[0]).status_code == 200
        wait_for(lambda: nodes[1].client.get(CLOCK).status_code == 200)
    yield
    for node in nodes:
        node.relay.restore()
        wait_for_health(node, 200)


def wait_for_health(node: RunningNode, status: int) -> None:
    wait_for(lambda: node.client.get("/api/health").status_code == status, 30)


def assert_reads_go_on(node: RunningNode) -> None:
    for path in (
        CLOCK,
        "/api/v1/widgets/search?q=clock",
        "/api/widgets/ann/registry.json",
        "/api/stats",
        "/cdn/@ann/clock/1.0.0/index.js",
        "/",
    ):
        assert node.client.get(path).status_code == 200, path


def read_metrics(port: int) -> dict[str, float]:
    lines = httpx.get(f"http://127.0.0.1:{port}/metrics").text.splitlines()
    pairs = [line.split() for line in lines if line.startswith("widget_catalog_")]
    return {name: float(value) for name, value in pairs}


def test_reads_go_on_and_writes_say_when_to_try_again(
    nodes: list[RunningNode], ann: Traveller, metrics_port: int
) -> None:
    for node in nodes:
        node.relay.cut()

    for node in nodes:
        wait_for_health(node, 503)
        health = node.client.get("/api/health").json()
        assert (health["status"], health["checks"]["database"]) == ("unavailable", "down")
        assert_reads_go_on(node)
        for refused in (
            node.client.post(CLOCK),
            ann.post(node, "/api/widgets/publish", request_body("ann/clock", "9.0.0", JS)),
        ):
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
            # Neither hosts nor users are revealed.
            assert list(refused.json()) == ["error"]
            assert "127.0.0.1" not in refused.text
            assert "postgres" not in refused.text.lower()
    wait_for(lambda: all("has not answered for" in it.client.get(READY).text for it in nodes))
    assert {it.client.get(READY).status_code for it in nodes} == {200}
    metrics = httpx.get(f"http://127.0.0.1:{metrics_port}/metrics", timeout=60).text
    told = dict(line.split() for line in metrics.splitlines() if line.startswith("widget_catalog_"))
    assert float(told["widget_catalog_database_up"]) == 0
    assert float(told["widget_catalog_lag_seconds"]) > 1


def test_all_comes_back_by_itself(nodes: list[RunningNode], ann: Traveller) -> None:
    one, two = nodes
    for node in nodes:
        node.relay.cut()
    wait_for(lambda: one.client.post(CLOCK).status_code == 503, 10)
    before = one.client.get(CLOCK).json()["widget"]["downloadCount"]

    for node in nodes:
        node.relay.restore()
    began = time.monotonic()
    wait_for(lambda: one.client.post(CLOCK).status_code == 200, BACK_S)
    wait_for(lambda: two.client.get("/api/health").status_code == 200, BACK_S)

    assert time.monotonic() - began < BACK_S
    assert one.client.get(CLOCK).json()["widget"]["downloadCount"] == before + 1
    assert ann.publish("ann/clock", "1.0.1", JS, two).status_code == 200
    wait_for(lambda: one.client.get(CLOCK).json()["latestVersion"] == "1.0.1", 5)


def test_a_node_that_was_cut_off_makes_up_for_what_it_missed(
    nodes: list[RunningNode], ann: Traveller
) -> None:
    one, two = nodes
    two.relay.cut()
    wait_for(lambda: two.client.get("/api/health").status_code == 503, 10)

    assert ann.publish("ann/clock", "1.2.0", JS, one).status_code == 200
    assert one.client.post(CLOCK).status_code == 200
    shown = one.client.get(CLOCK).json()
    assert two.client.get(CLOCK).json()["latestVersion"] != "1.2.0"
    two.relay.restore()

    wait_for(lambda: two.client.get(CLOCK).json() == shown, BACK_S)


def test_a_node_that_cannot_take_in_changes_says_that_it_is_behind(
    nodes: list[RunningNode], ann: Traveller, metrics_port: int
) -> None:
    one, two = nodes
    before = one.client.get(CLOCK).json()
    with file_lock(one.service.data / "run" / "replica.lock", 60) as holder:
        assert holder is None
        assert ann.publish("ann/clock", "1.3.0", JS, two).status_code == 200

        wait_for(lambda: one.client.get(READY).status_code == 503)
        assert one.client.get(READY).text == "behind: not all changes can be shown\n"
        assert one.client.get(CLOCK).json() == before
        wait_for(lambda: read_metrics(metrics_port)["widget_catalog_lag_seconds"] > 1)
        assert read_metrics(metrics_port)["widget_catalog_lag_changes"] >= 1

    wait_for(lambda: one.client.get(CLOCK).json()["latestVersion"] == "1.3.0")
    wait_for(lambda: one.client.get(READY).text == "ok\n")


def test_a_database_that_says_nothing_any_more_is_not_waited_for(
    nodes: list[RunningNode],
) -> None:
    node = nodes[1]
    node.relay.silence()

    wait_for(lambda: node.client.get("/api/health").status_code == 503, 20)
    assert_reads_go_on(node)
    began = time.monotonic()
    assert node.client.post(CLOCK).status_code == 503
    assert node.client.get("/api/widgets/scopes", headers={"cookie": "x"}).status_code in (401, 503)
    assert time.monotonic() - began < 10


def test_nobody_waits_without_end_for_a_database_that_hangs(
    nodes: list[RunningNode], ann: Traveller
) -> None:
    """More concurrent requests than threads, before the hang is detected."""
    node = nodes[1]
    node.relay.silence()

    body = request_body("ann/clock", "8.0.0", JS)
    with ThreadPoolExecutor(24) as threads:
        reads = [threads.submit(ann.get, node, "/api/widgets/scopes") for _ in range(12)]
        writes = [threads.submit(ann.post, node, "/api/widgets/publish", body) for _ in range(12)]
        statuses = {it.result(60).status_code for it in reads + writes}

    assert statuses == {503}
    assert_reads_go_on(node)
    node.relay.restore()
    wait_for(lambda: ann.get(node, "/api/widgets/scopes").status_code == 200)
    assert ann.publish("ann/clock", "8.0.1", JS, node).status_code == 200
