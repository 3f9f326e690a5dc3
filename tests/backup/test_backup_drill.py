"""The restore drill: everything is killed under load, and the backup becomes the catalog."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from publishing.publisher import bundle_of
from support.author import Author, add_account, assert_whole, token_of
from support.commands import widget_catalog
from support.load import CountingLoad
from support.service import Service, clean_environment, running_service, wait_for
from support.widgets import import_widgets, widget_line
from widget_catalog.backup.layout import list_snapshots, number_of
from widget_catalog.backup.reader import check_backup
from widget_catalog.catalog.node.node import prepare_node
from widget_catalog.core import clock

_KEYS = ["acme/a", "acme/b", "acme/c"]
# Far more than a copy of this small catalog takes on the slowest machine.
_MAX_LOST_S = 30
_ATTEMPTS = 20


class Promised(NamedTuple):
    """What had been acknowledged at a point in time."""

    at: str
    counts: Counter[str]
    versions: set[str]


def test_everything_acknowledged_before_the_last_copy_survives_the_loss_of_the_machine(
    tmp_path: Path,
) -> None:
    node = prepare_node(tmp_path / "data")
    add_account(node, "ann")
    import_widgets(node, *map(widget_line, _KEYS))
    node.store.close()
    copy = tmp_path / "copy"
    versions: set[str] = set()
    promises: list[Promised] = []
    with running_service(node.folder.path, "--workers", "2") as service:
        token = token_of(service, "ann")
        with (
            CountingLoad(service, _KEYS, clients=3, pause_s=0.02) as load,
            _publishing(service, token, versions),
            _continuous_copy(node.folder.path, copy) as copying,
        ):

            def is_enough() -> bool:
                promises.append(
                    Promised(clock.iso(clock.now()), load.acknowledged.copy(), versions.copy())
                )
                # By their numbers, because only three snapshots are kept.
                newest = max((number_of(it) or 0 for it in list_snapshots(copy)), default=0)
                return newest >= 4 and len(versions) >= 4

            wait_for(is_enough, timeout_s=120)
            os.kill(copying.pid, signal.SIGKILL)
            service.kill()
            died_at = clock.now()

    said = widget_catalog("restore", copy, "--data", tmp_path / "restored")
    assert said.code == 0, said
    made_at = check_backup(copy).manifest.made_at
    kept = [it for it in promises if it.at <= made_at][-1]
    assert kept.versions
    with running_service(tmp_path / "restored") as service, service.client() as client:
        for key in _KEYS:
            shown = client.get(f"/api/v1/widgets/{key}").json()["widget"]["downloadCount"]
            assert kept.counts[key] <= shown <= load.attempted[key]
        entries = client.get("/api/v1/widgets/ann/clock").json()["versions"]
        assert kept.versions <= {entry["version"] for entry in entries}
        for entry in entries:
            path = entry["bundleUrl"].partition("/cdn/")[2]
            assert_whole(client, {**entry, "bundleUrl": f"{service.url}/cdn/{path}"})
    assert widget_catalog("doctor", "--data", tmp_path / "restored").code == 0
    lost_s = (died_at - datetime.fromisoformat(made_at)).total_seconds()
    assert lost_s < _MAX_LOST_S


@contextlib.contextmanager
def _continuous_copy(data: Path, target: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "widget_catalog", "backup", str(target), "--every", "1s"]
    process = subprocess.Popen(
        [*command, "--keep", "3", "--data", str(data)],
        env=clean_environment(),
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def _publishing(service: Service, token: str, acknowledged: set[str]) -> Iterator[None]:
    is_over = threading.Event()

    def publish() -> None:
        with Author(service.url, token) as author:
            for number in range(80):  # An account may publish a hundred per hour.
                version = f"1.0.{number}"
                if is_over.is_set():
                    return
                with contextlib.suppress(httpx.TransportError):
                    if author.publish("ann/clock", version, bundle_of(version)).status_code == 200:
                        acknowledged.add(version)
                time.sleep(0.1)

    thread = threading.Thread(target=publish)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def test_a_backup_killed_at_any_moment_leaves_the_last_one_whole(tmp_path: Path) -> None:
    node = prepare_node(tmp_path / "data")
    lines = [widget_line(f"acme/w{i}", description="x" * 4000) for i in range(2000)]
    import_widgets(node, *lines)
    node.store.close()
    folder, file = tmp_path / "folder", tmp_path / "file.tar.zst"
    for target in (folder, file):
        assert widget_catalog("backup", target, "--data", node.folder.path).code == 0
    begun = {
        folder: lambda: list((folder / "snapshots").glob(".partial-*/catalog.db")),
        file: lambda: list(tmp_path.glob(".file.tar.zst.partial/*.tar.zst")),
    }

    for target in (folder, file):
        # On a busy machine, a backup may be finished before anybody looks.
        for _ in range(_ATTEMPTS):
            was = check_backup(target).name
            if _is_killed_while(begun[target], target, node.folder.path):
                break
        else:
            pytest.fail("It was killed too late, every time.")
        assert check_backup(target).name == was

        assert widget_catalog("backup", target, "--data", node.folder.path).code == 0
        assert not begun[target]()
        check_backup(target)
    assert sorted(it.name for it in tmp_path.iterdir()) == ["data", "file.tar.zst", "folder"]


def _is_killed_while(begun: Callable[[], object], target: Path, data: Path) -> bool:
    """Kill a backup that has begun. False if it was finished before."""
    command = [sys.executable, "-m", "widget_catalog", "backup", str(target), "--data", str(data)]
    backup = subprocess.Popen(command, env=clean_environment(), stderr=subprocess.DEVNULL)
    wait_for(lambda: begun() or backup.poll() is not None)
    backup.kill()
    code = backup.wait()
    assert code in (0, -signal.SIGKILL)
    return code != 0 and bool(begun())
