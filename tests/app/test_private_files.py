"""Files created by commands and the service are readable only by their user."""

import os
import stat
from pathlib import Path

import pytest

from support.commands import widget_catalog
from support.folders import filled_folder
from support.service import running_service
from support.widgets import widget_line

pytestmark = pytest.mark.slow


def carelessly() -> None:
    os.umask(0)


def readable_by_others(folder: Path) -> list[str]:
    """Files that others can read, and folders that others can enter or list."""
    found = []
    for parent, folders, files in os.walk(folder):
        found += [
            str(path)
            for path in (Path(parent, name) for name in [*folders, *files])
            if stat.S_IMODE(path.stat().st_mode) & 0o077
            # A published file is read-only for everybody; its folder is private.
            and not (
                path.parent.parent.name == "bundles"
                and not stat.S_IMODE(path.parent.stat().st_mode) & 0o077
            )
        ]
    return found


def test_files_in_a_folder_that_others_can_read_are_private_all_the_same(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o755)
    with running_service(data, "--demo", before=carelessly):
        pass

    assert (data / "catalog.db").exists()
    assert list((data / "bundles").rglob("*.js"))
    assert readable_by_others(data) == []


def test_an_export_is_private_until_its_owner_shares_it(tmp_path: Path) -> None:
    data = filled_folder(tmp_path / "data", widget_line("acme/clock"))
    target = tmp_path / "out" / "catalog.ndjson"
    target.parent.mkdir()

    done = widget_catalog("export", target, "--data", data, before=carelessly)

    assert done.code == 0, done.err
    assert readable_by_others(target.parent) == []
