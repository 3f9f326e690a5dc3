"""kill -9 of a publish, at any moment: the whole version exists, or nothing of it."""

import contextlib
import hashlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from publishing.publisher import bundle_of, pictures_of
from support.author import Author, add_account, assert_whole, token_of
from support.service import Service, running_service
from widget_catalog.catalog.node.node import Node, prepare_node
from widget_catalog.catalog.replica.listener import ReplicaListener
from widget_catalog.catalog.store.audit import list_entries
from widget_catalog.catalog.store.widgets import find_widget
from widget_catalog.core import clock
from widget_catalog.core.db.engine import Store
from widget_catalog.core.db.sqlite import sqlite_engine
from widget_catalog.operations.doctor import check_catalog
from widget_catalog.publishing.publish_version import tidy_uploads
from widget_contract.names import Scope, WidgetName
from widget_contract.version_files import kind_of

_TRIES = int(os.environ.get("KILLS", "24"))
_PICTURE_TRIES = _TRIES // 2
_SERVICE_TRIES = 4


@pytest.mark.parametrize("files", [1, 5], ids=["a bundle", "with pictures"])
def test_a_publish_killed_at_any_moment_leaves_the_whole_version_or_nothing(
    tmp_path: Path, files: int
) -> None:
    """`files`: of a version. A picture has a thumbnail."""
    tries = _TRIES if files == 1 else _PICTURE_TRIES
    node = prepare_node(tmp_path / "data")
    add_account(node, "ann")
    choose = random.Random(5)
    published: set[str] = set()
    with _publisher(node, *(["--pictures"] if files > 1 else [])) as publisher:
        _time_one(publisher, "0.0.1")  # A warm-up, because it loads all modules.
        took_s = _time_one(publisher, "0.0.2")
        for turn in range(tries):
            version = f"1.0.{turn}"
            child = _start(publisher, version)
            time.sleep(choose.uniform(0, 1.2) * took_s)
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            assert _read(publisher) == "ended"
            if _is_published(node, version, files):
                published.add(version)
            # Half of the kills should come too late, however busy the machine is.
            took_s *= 0.9 if version in published else 1.1
    assert 0 < len(published) < tries, "no kill fell into a publish"
    assert _log_of_publishes(node) == {*published, "0.0.1", "0.0.2"}
    tidy_uploads(node.store, node.bundles, node.uploads)
    assert check_catalog(node.store, node.bundles, node.replica).is_healthy
    _assert_nothing_is_left(node, files * (len(published) + 2))


def test_a_service_killed_while_publishing_has_whole_versions_only(tmp_path: Path) -> None:
    node = prepare_node(tmp_path / "data")
    add_account(node, "ann")
    choose = random.Random(6)
    token = ""
    acknowledged: set[str] = set()
    for turn in range(_SERVICE_TRIES):
        with running_service(node.folder.path, "--workers", "2") as service:
            token = token or token_of(service, "ann")
            stop = threading.Event()
            authors = [
                threading.Thread(
                    target=_publish_on, args=(service, token, f"{turn}.{i}", acknowledged, stop)
                )
                for i in range(3)
            ]
            known = len(acknowledged)
            for author in authors:
                author.start()
            while len(acknowledged) == known and any(it.is_alive() for it in authors):
                time.sleep(0.01)
            time.sleep(choose.uniform(0, 0.4))
            service.kill()
            stop.set()
            for author in authors:
                author.join()
    assert len({it.partition(".")[0] for it in acknowledged}) == _SERVICE_TRIES
    with running_service(node.folder.path) as service, service.client() as client:
        shown = client.get("/api/v1/widgets/ann/clock").json()["versions"]
        assert acknowledged <= {entry["version"] for entry in shown}
        for entry in shown:
            # With this start's URL: every start has another port.
            assert_whole(client, {**entry, "bundleUrl": _here(service, entry["bundleUrl"])})


def _publish_on(
    service: Service, token: str, prefix: str, acknowledged: set[str], stop: threading.Event
) -> None:
    with Author(service.url, token) as author, contextlib.suppress(httpx.TransportError):
        for number in range(10_000):
            version = f"{prefix}.{number}"
            if author.publish("ann/clock", version, bundle_of(version)).status_code == 200:
                acknowledged.add(version)
            if stop.is_set():
                return


def _here(service: Service, address: str) -> str:
    return service.url + httpx.URL(address).path


@contextlib.contextmanager
def _publisher(node: Node, *options: str) -> "Iterator[subprocess.Popen[str]]":
    process = subprocess.Popen(
        [sys.executable, "-m", "publishing.publisher", str(node.folder.path), *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[1],
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _start(publisher: "subprocess.Popen[str]", version: str) -> int:
    assert publisher.stdin is not None
    publisher.stdin.write(f"{version}\n")
    publisher.stdin.flush()
    return int(_read(publisher))


def _read(publisher: "subprocess.Popen[str]") -> str:
    assert publisher.stdout is not None
    return publisher.stdout.readline().strip()


def _time_one(publisher: "subprocess.Popen[str]", version: str) -> float:
    began = time.monotonic()
    _start(publisher, version)
    assert _read(publisher) == "ended"
    return time.monotonic() - began


def _is_published(node: Node, version: str, files: int) -> bool:
    """Whether the version exists; if so, it must be complete, with so many files."""
    with node.store.reading() as connection:
        stored = find_widget(connection, Scope("ann"), WidgetName("clock"))
    found = [it for it in stored.widget.versions if it.number == version] if stored else []
    for version_found in found:
        with node.bundles.open(version_found.sha256_hash) as bundle:
            content = bundle.read()
        assert content == bundle_of(version)
        assert version_found.sha256_hash == hashlib.sha256(content).hexdigest()
        assert version_found.bundle_size == len(content)
        pictures = pictures_of(version) if files > 1 else {}
        assert len(version_found.attached) == files - 1
        for file in version_found.attached:
            with node.bundles.open(file.sha256_hash, kind_of(file.path)) as stored_file:
                content = stored_file.read()
            assert hashlib.sha256(content).hexdigest() == file.sha256_hash
            assert content == pictures.get(file.path, content)
    return bool(found)


def _log_of_publishes(node: Node) -> set[str]:
    with node.store.reading() as connection:
        entries, _ = list_entries(connection, "ann", "clock", 1, 10_000)
    versions = [entry.version or "" for entry in entries if entry.action == "publish"]
    assert len(set(versions)) == len(versions)
    return set(versions)


def _assert_nothing_is_left(node: Node, published: int) -> None:
    """After the requests have expired: no uploads, and only so many files of versions."""
    later = Store(
        sqlite_engine(node.folder.database),
        node.folder.writer_lock,
        ReplicaListener(node.replica, node.counts),
        now=lambda: clock.now() + timedelta(hours=2),
    )
    tidy_uploads(later, node.bundles, node.uploads)
    later.close()
    assert node.uploads.list_requests() == set()
    assert len(list(node.bundles.list_stored())) == published
