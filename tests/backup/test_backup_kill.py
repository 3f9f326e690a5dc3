"""A backup is killed at any moment."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from support.commands import widget_catalog
from support.service import clean_environment, wait_for
from support.widgets import import_widgets, widget_line
from widget_catalog.backup.reader import check_backup
from widget_catalog.catalog.node.node import prepare_node

_ATTEMPTS = 20


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
