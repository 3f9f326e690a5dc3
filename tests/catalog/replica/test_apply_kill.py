"""kill -9 between a commit and its application to the replica: no committed change stays
invisible.

The holder of the replica's lock stops a writer at exactly that point. KILLS=200 repeats it often.
"""

import contextlib
import json
import os
import random
import sqlite3
import threading
import time
from functools import partial
from pathlib import Path

import httpx
import pytest

from publishing.publisher import bundle_of
from support.author import Author, add_account, token_of
from support.commands import widget_catalog
from support.locks import held_by_another_process
from support.service import Service, running_service, wait_for
from support.widgets import ndjson, widget_line
from support.wire import connections_to_every_worker
from widget_catalog.catalog.node.node import prepare_node
from widget_catalog.core.data_folder import DataFolder

_KILLS = int(os.environ.get("KILLS", "3"))
_CLOCK = "/api/v1/widgets/ann/clock"
# An author may publish as often as there are kills.
_UNLIMITED = {"WIDGET_CATALOG_MAX_VERSIONS_PER_HOUR": "0"}


@pytest.mark.timeout(300 + 60 * _KILLS)
def test_what_was_committed_before_a_kill_is_shown_by_every_worker_after_the_next_start(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    node = prepare_node(data)
    add_account(node, "ann")
    node.store.close()
    choose = random.Random(7)
    committed: set[str] = set()
    token = ""
    for turn in range(_KILLS):
        version = f"1.0.{turn}"
        with running_service(data, "--workers", "2", environment=_UNLIMITED) as service:
            token = token or token_of(service, "ann")
            _assert_shown(service, committed)
            with held_by_another_process(DataFolder(data).replica_lock) as holder:
                author = threading.Thread(target=_publish, args=(service, token, version))
                author.start()
                wait_for(partial(_is_committed, data, version))
                if turn % 3 == 2:  # Not before it, but while it is applied, or just after.
                    holder.kill()
                    time.sleep(choose.uniform(0, 0.02))
                service.kill()
                author.join()
        committed.add(version)
    with running_service(data, "--workers", "2") as service:
        _assert_shown(service, committed)
    assert widget_catalog("doctor", "--data", data).code == 0


def test_what_a_killed_command_has_committed_is_shown_by_a_running_service(tmp_path: Path) -> None:
    """Automatically, without another write."""
    data = tmp_path / "data"
    prepare_node(data).store.close()
    (tmp_path / "new.ndjson").write_bytes(ndjson(widget_line("acme/new")))
    with running_service(data, "--workers", "2") as service, service.client() as client:
        with held_by_another_process(DataFolder(data).replica_lock):
            said = widget_catalog("import", tmp_path / "new.ndjson", "--data", data)
            assert said.code == 0, said
            assert client.get("/api/v1/widgets/acme/new").status_code == 404
        wait_for(lambda: client.get("/api/v1/widgets/acme/new").status_code == 200)
        assert client.get("/api/v1/widgets/search").json()["total"] == 1


def _publish(service: Service, token: str, version: str) -> None:
    with Author(service.url, token) as author, contextlib.suppress(httpx.TransportError):
        author.publish("ann/clock", version, bundle_of(version))


def _is_committed(data: Path, version: str) -> bool:
    with contextlib.closing(sqlite3.connect(DataFolder(data).database)) as database:
        query = "SELECT 1 FROM versions WHERE version = ?"
        return database.execute(query, (version,)).fetchone() is not None


def _assert_shown(service: Service, versions: set[str]) -> None:
    if not versions:
        return
    with connections_to_every_worker(service) as found:
        assert len(found) == 2
        for [connection, *_] in found.values():
            body = json.loads(connection.ask("GET", _CLOCK).body)
            assert {it["version"] for it in body["versions"]} == versions
            body = json.loads(connection.ask("GET", "/api/v1/widgets/search?q=clock").body)
            assert body["total"] == 1
