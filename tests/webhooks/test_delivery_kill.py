"""kill -9 of the service while it delivers a webhook: it is delivered, with the same id."""

import json
import sqlite3
import threading
from pathlib import Path

from support.author import Author, add_account, token_of
from support.service import run_command, running_service, wait_for
from webhooks.receiver import Received, Receiver
from widget_catalog.catalog.node.node import prepare_node

SETTINGS = {
    "WIDGET_CATALOG_WEBHOOK_HTTP": "true",
    "WIDGET_CATALOG_WEBHOOK_NETWORKS": "127.0.0.0/8",
}


def test_what_a_killed_service_was_sending_is_sent_again_by_the_next(tmp_path: Path) -> None:
    data = tmp_path / "data"
    add_account(prepare_node(data), "ann")
    has_arrived, gate = threading.Event(), threading.Event()

    def hang(_: Received) -> int:
        has_arrived.set()
        gate.wait(300)
        return 204

    with Receiver(hang) as receiver:
        added = run_command(
            *("webhook", "add", receiver.url, "--scope", "ann", "--type", "published", "--json"),
            *("--data", str(data)),
            environment=SETTINGS,
        )
        assert added.returncode == 0, added.stderr
        hook = json.loads(added.stdout)
        with running_service(data, "--workers", "2", environment=SETTINGS) as service:
            token = token_of(service, "ann")
            with Author(service.url, token) as author:
                assert author.publish("ann/clock", "1.0.0").status_code == 200
            wait_for(has_arrived.is_set)
            service.kill()
        gate.set()
        wait_for(lambda: len(receiver.received) == 1)
        assert _attempts(data) == [1]  # Claimed, without a recorded result.
        with sqlite3.connect(data / "catalog.db") as connection:  # Two minutes later.
            connection.execute("UPDATE webhook_deliveries SET next_at = 0")

        with running_service(data, "--workers", "2", environment=SETTINGS) as service:
            with Author(service.url, token) as author:
                assert author.publish("ann/clock", "1.1.0").status_code == 200
            wait_for(lambda: len(receiver.received) == 3)
            assert service.stop() == 0

    first, *others = receiver.received
    again, new = sorted(others, key=lambda it: it.json()["data"]["seq"])
    assert (again.id, again.body) == (first.id, first.body)
    assert new.json()["data"]["version"] == "1.1.0"
    assert all(it.is_signed_with(hook["secret"]) for it in receiver.received)


def _attempts(data: Path) -> list[int]:
    with sqlite3.connect(data / "catalog.db") as connection:
        return [it[0] for it in connection.execute("SELECT attempts FROM webhook_deliveries")]
