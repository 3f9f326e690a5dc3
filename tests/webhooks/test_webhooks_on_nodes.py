"""Webhooks of a catalog with two nodes: one of them delivers."""

import threading
from collections.abc import Iterator
from functools import partial

import psycopg
import pytest

from support.at_once import outcomes
from support.nodes import RunningNode, Traveller, metric_of, two_nodes
from support.service import free_port, wait_for
from webhooks.receiver import Received, Receiver

JS = b"export function mount() {}\n"
# Allows webhooks to this machine.
TO_HERE = {"webhook_http": "true", "webhook_networks": "127.0.0.0/8"}
# The number of the advisory lock of earlier releases.
FORMER_LOCK = 0x776562686F6F6B73


@pytest.fixture(scope="module")
def ports() -> tuple[int, int]:
    return free_port(), free_port()


@pytest.fixture(scope="module")
def nodes(
    tmp_path_factory: pytest.TempPathFactory, database: str, ports: tuple[int, int]
) -> Iterator[list[RunningNode]]:
    with two_nodes(tmp_path_factory.mktemp("nodes"), database, *ports, **TO_HERE) as both:
        yield both


@pytest.fixture(scope="module")
def ann(nodes: list[RunningNode]) -> Traveller:
    return Traveller(nodes[0], "ann")


def test_a_webhook_receives_every_change_of_both_nodes_once(
    nodes: list[RunningNode], ann: Traveller, ports: tuple[int, int]
) -> None:
    def metric(name: str) -> float:
        """The sum of both nodes: either of them delivers."""
        return sum(metric_of(port, name) for port in ports)

    before = metric('webhook_deliveries_total{outcome="delivered"}')
    is_up = threading.Event()
    refused: list[Received] = []

    def respond(got: Received) -> int:
        if is_up.is_set():
            return 204
        refused.append(got)
        return 503

    with Receiver(respond) as receiver:
        body = {"url": receiver.url, "scope": "ann", "types": ["published"]}
        added = ann.post(nodes[0], "/api/webhooks", body)
        assert added.status_code == 201, added.text
        hook = added.json()
        assert ann.publish("ann/told", "1.0.0", JS, nodes[1]).status_code == 200
        wait_for(lambda: refused and metric("webhook_deliveries_waiting") == 1)
        is_up.set()

        versions = [f"1.{number}.0" for number in range(1, 7)]

        def publish(node: RunningNode, some: list[str]) -> list[int]:
            return [ann.publish("ann/told", it, JS, node).status_code for it in some]

        jobs = [
            partial(publish, nodes[0], versions[::2]),
            partial(publish, nodes[1], versions[1::2]),
        ]
        assert outcomes(jobs) == [[200] * 3, [200] * 3]
        wait_for(lambda: metric('webhook_deliveries_total{outcome="delivered"}') == before + 7, 120)
        wait_for(lambda: metric("webhook_deliveries_waiting") == 0)
        path = f"/api/webhooks/{hook['id']}"
        log = ann.get(nodes[1], f"{path}/deliveries").json()["deliveries"]
        assert ann.post(nodes[1], f"{path}/disable", {}).status_code == 200

    delivered = [it for it in receiver.received if it not in refused]
    assert all(it.is_signed_with(hook["secret"]) for it in receiver.received)
    assert sorted(it.json()["data"]["version"] for it in delivered) == ["1.0.0", *versions]
    assert {it.id for it in refused} <= {it.id for it in delivered}
    assert {it["state"] for it in log} == {"delivered"}
    assert sum(it["attempts"] for it in log) == len(receiver.received)


def test_who_takes_the_former_advisory_lock_blocks_no_delivery(
    nodes: list[RunningNode], ann: Traveller, database: str
) -> None:
    with psycopg.connect(database, autocommit=True) as connection, Receiver() as receiver:
        connection.execute("SELECT pg_try_advisory_lock(%s)", [FORMER_LOCK])
        hook = ann.post(nodes[0], "/api/webhooks", {"url": receiver.url, "scope": "ann"})
        path = f"/api/webhooks/{hook.json()['id']}"
        ann.post(nodes[0], f"{path}/ping", {})
        wait_for(lambda: bool(receiver.received), 60)
        ann.post(nodes[0], f"{path}/disable", {})
