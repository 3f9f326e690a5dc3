"""Another process holds the writer lock forever: all reads continue, and every write times out."""

import contextlib
import re
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from support.author import Author, add_account, token_of
from support.folders import filled_folder
from support.load import CountingLoad
from support.locks import held_by_another_process
from support.people import PASSWORD, request_body
from support.service import (
    NO_CERTIFICATES,
    Service,
    clean_environment,
    run_command,
    running_service,
    wait_for,
)
from support.widgets import widget_line
from widget_catalog.catalog.node.node import open_node, prepare_node
from widget_catalog.core.data_folder import DataFolder
from widget_catalog.core.db.file_lock import WaitPolicy

_CLOCK = "/api/v1/widgets/acme/clock"
_PUBLIC = [
    _CLOCK,
    "/api/v1/widgets/search?q=clock",
    "/api/widgets/acme/registry.json",
    "/api/stats",
    "/api/version",
    "/",
    "/sign-in",
]
_OF_A_PERSON = ["/api/auth/session", "/api/tokens", "/api/widgets/scopes", "/account"]
# Less than a writer's timeout, so a response within it did not wait for the lock.
_AT_ONCE_S = 4.5


@pytest.fixture
def data(tmp_path: Path) -> Path:
    line = widget_line("acme/clock", downloadCount=7)
    return filled_folder(tmp_path / "data", line, widget_line("acme/bell"))


def test_with_the_lock_held_for_ever_reads_are_answered_and_writes_refused(data: Path) -> None:
    node = prepare_node(data)
    add_account(node, "ann")
    node.store.close()
    folder = DataFolder(data)
    with running_service(data, "--workers", "2") as service, service.client() as browser:
        token = token_of(service, "ann")  # It was never used, so its use would be recorded.
        credentials = {"username": "ann", "password": PASSWORD}
        csrf = browser.post("/api/auth/sign-in", json=credentials).json()["csrfToken"]
        with sqlite3.connect(folder.database) as db:
            db.execute("UPDATE sessions SET last_seen_at = last_seen_at - 600000")
        with (
            held_by_another_process(folder.writer_lock) as holder,
            _command("scope", "reserve", "kept", "--data", str(data)) as command,
            ThreadPoolExecutor(40) as people,
        ):
            refused = [people.submit(_sign_in_page, service) for _ in range(12)]
            refused += [people.submit(_sign_in, service) for _ in range(12)]
            refused += [people.submit(_publish, service, token) for _ in range(12)]
            time.sleep(0.5)  # They are waiting now.
            with service.client() as anyone, Author(service.url, token) as author:
                for address in _PUBLIC:
                    _assert_read_at_once(anyone, address)
                for address in _OF_A_PERSON:
                    _assert_read_at_once(browser, address)
                for address in ("/api/auth/session", "/api/widgets/scopes"):
                    _assert_read_at_once(author.client, address)
                _assert_refused(anyone.post(_CLOCK))
                for response in refused:
                    _assert_refused(response.result())
                # Later requests do not wait again.
                for send in (_sign_in_page, _sign_in):
                    _assert_refused(send(service), within_s=_AT_ONCE_S)
                _assert_refused(_publish(service, token), within_s=_AT_ONCE_S)
                wait_for(lambda: anyone.get("/api/health").status_code == 503)
                health = anyone.get("/api/health").json()
                assert health["status"] == "unavailable"
                assert health["checks"] == {"database": "ok", "bundles": "ok", "writing": "failing"}
                assert "another process has been writing" in health["error"]
                assert str(holder.pid) not in health["error"]
            assert f"process {holder.pid} (" in service.log
            stats = run_command("stats", "--data", str(data))
            assert b'"downloads":7' in stats.stdout, stats
            _, said = command.communicate(timeout=120)
            assert command.returncode == 1
            assert f"Waiting, as process {holder.pid} (" in said
            assert f"cannot be changed: process {holder.pid} (" in " ".join(said.split())
        wait_for(lambda: browser.post(_CLOCK).status_code == 200)
        wait_for(lambda: browser.get("/api/health").status_code == 200)
        assert _sign_in(service).status_code == 200
        with Author(service.url, token) as author:
            assert author.publish("ann/clock", "1.0.0").status_code == 200
        browser.get("/api/auth/session").raise_for_status()
        closed = browser.post("/api/auth/sign-out", headers={"x-csrf-token": csrf})
        assert closed.status_code == 200
        assert "The catalog can be changed again." in service.log
        assert "Traceback" not in service.log


def test_a_start_with_the_lock_held_serves_reads_and_does_the_rest_later(data: Path) -> None:
    folder = DataFolder(data)
    folder.counts.unlink()  # As in a restored backup.
    with (
        held_by_another_process(folder.writer_lock) as holder,
        running_service(data, "--workers", "2") as service,
        service.client() as client,
    ):
        assert client.get(_CLOCK).json()["widget"]["downloadCount"] == 7
        assert client.get("/sign-in").status_code == 200
        said = " ".join(service.log.split())
        assert f"Process {holder.pid} (" in said
        assert "Reads work; changes have to wait until it has finished." in said
        assert "join?invitation=" not in said
        holder.kill()
        wait_for(lambda: "join?invitation=" in service.log)
        wait_for(lambda: client.post(_CLOCK).status_code == 200)
        assert client.get(_CLOCK).json()["widget"]["downloadCount"] == 8
        assert service.log.count("join?invitation=") == 1


def test_a_worker_left_behind_is_named_by_the_next_start(data: Path) -> None:
    """A process that claims to be a service, while none is running."""
    lock_file = DataFolder(data).writer_lock
    with (
        held_by_another_process(lock_file, "widget-catalog serve") as left,
        running_service(data) as service,
    ):
        said = " ".join(service.log.split())
        held = rf"Process {left.pid} \(widget-catalog serve\) has held the writer lock"
        assert re.search(rf"{held} since \d{{4}}-\d\d-\d\dT[\d:.]+Z\. Reads work;", said)
        assert f"end it with kill -9 {left.pid}" in said


def test_a_stream_of_counts_does_not_starve_another_writer(data: Path) -> None:
    """Ten writers in a row each get their turn, while two workers count as fast as they can."""
    store = open_node(data, wait_policy=WaitPolicy(20)).store
    with (
        running_service(data, "--workers", "2") as service,
        CountingLoad(service, ["acme/clock", "acme/bell"], clients=8) as load,
    ):
        load.wait_for(50)
        for _ in range(10):
            with store.writing():
                pass
            load.wait_for(5)
        assert load.statuses.keys() == {200}
    store.close()


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_stats_changes_nothing(data: Path, tmp_path: Path, mode: str) -> None:
    """Neither in a backup nor in the folder of a stopped service."""
    backup = tmp_path / "backup"
    backup.mkdir()
    with (
        contextlib.closing(sqlite3.connect(DataFolder(data).database)) as db,
        contextlib.closing(sqlite3.connect(backup / "catalog.db")) as copy,
    ):
        db.backup(copy)
        copy.execute(f"PRAGMA journal_mode={mode}")
    before = (backup / "catalog.db").read_bytes()

    done = run_command("stats", "--data", str(backup))

    assert b'"downloads":7' in done.stdout, done
    assert (backup / "catalog.db").read_bytes() == before
    assert [it.name for it in backup.iterdir()] == ["catalog.db"]


def _command(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "widget_catalog", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env=clean_environment(),
    )


def _client(service: Service) -> httpx.Client:
    return httpx.Client(base_url=service.url, timeout=60, verify=NO_CERTIFICATES)


def _sign_in(service: Service) -> httpx.Response:
    with _client(service) as client:
        credentials = {"username": "ann", "password": PASSWORD}
        return client.post("/api/auth/sign-in", json=credentials)


def _sign_in_page(service: Service) -> httpx.Response:
    with _client(service) as client:
        form = {"username": "ann", "password": PASSWORD}
        return client.post("/sign-in", data=form, headers={"origin": service.url})


def _publish(service: Service, token: str) -> httpx.Response:
    with Author(service.url, token) as author:
        body = request_body("ann/clock", "1.0.0", b"export default 1;")
        return author.client.post("/api/widgets/publish", json=body)


def _assert_read_at_once(client: httpx.Client, address: str) -> None:
    began = time.monotonic()
    response = client.get(address)
    took_s = time.monotonic() - began
    assert response.status_code == 200, (address, response.text[:500])
    assert took_s < _AT_ONCE_S, address


def _assert_refused(response: httpx.Response, within_s: float = 40) -> None:
    assert response.status_code == 503, response.text[:500]
    assert response.headers["retry-after"].isdigit()
    assert response.elapsed.total_seconds() < within_s
    if response.request.url.path.startswith("/api/"):
        assert response.json().keys() == {"error"}
    else:
        assert response.headers["content-type"].startswith("text/html")
