"""`widget-catalog backup` and `restore`: their output, and their errors."""

import contextlib
import re
import resource
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from accounts.stored_accounts import an_account
from app.test_private_files import carelessly, readable_by_others
from backup.backups import catalog_with_bundles, exported, files_of
from core.db.next_migration import add_next_step
from support.commands import Said, widget_catalog
from support.disks import UNSHARE, may_mount
from support.load import CountingLoad
from support.permissions import read_only, without_root_powers
from support.preloaded import run_module
from support.service import clean_environment, running_service
from widget_catalog.accounts.second_factor.store import put_app
from widget_catalog.catalog.node.node import prepare_node
from widget_catalog.core.db.migrate import SCHEMA
from widget_catalog.core.keys import SecretBox

_HELD = r"4 widgets, 4 versions, 1 account and 4 bundles \(\d+\.\d kB\)"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A catalog with an account that uses an authenticator app."""
    data = catalog_with_bundles(tmp_path)
    node = prepare_node(data)
    account = an_account(node.store)
    with node.store.writing() as tx:
        put_app(tx, account.id, SecretBox(node.folder.second_factor_key).seal("a secret"), 0)
    node.store.close()
    return data


@pytest.mark.parametrize("name", ["backup", "backup.tar.zst"])
def test_a_backup_says_what_is_in_it_and_what_is_not(data: Path, tmp_path: Path, name: str) -> None:
    place = tmp_path / "backups"
    place.mkdir()
    target, restored = place / name, tmp_path / "restored"

    said = widget_catalog("backup", target, "--data", data, before=carelessly)

    assert said.code == 0
    first, *others = said.err.splitlines()
    assert re.fullmatch(rf"Backed up {_HELD} to {re.escape(str(target))}.*\.", first)
    assert others[-1] == (
        "Note: 1 account uses an authenticator app. The key of these apps is not in the backup. "
        f"Keep a copy of {data}/second-factor.key elsewhere; it does not change."
    )
    assert ("Copied 4 bundles that were not in the folder yet." in others) == (name == "backup")
    assert readable_by_others(place) == []
    checked = widget_catalog("restore", target, "--check")
    assert re.fullmatch(rf"The snapshot 000001-.*Z is intact: {_HELD}\.\n", checked.err), checked

    said = widget_catalog("restore", target, "--data", restored, before=carelessly)

    assert said.code == 0
    first, second, third = said.err.splitlines()
    assert re.fullmatch(rf"Restored {_HELD} to {re.escape(str(restored))}\.", first)
    assert re.fullmatch(r"The backup was created at 20\d\d-.*Z by release \d+\.\d+\.\d+\.", second)
    assert third.endswith(
        f"Copy your second-factor.key to {restored}/second-factor.key before you start the service."
    )
    assert readable_by_others(restored) == []
    (data / "second-factor.key").rename(restored / "second-factor.key")
    assert widget_catalog("doctor", "--data", restored).code == 0
    assert exported(restored) == exported(data)


def test_a_backup_ends_however_much_is_counted_meanwhile(data: Path, tmp_path: Path) -> None:
    keys = ["acme/w0", "acme/w1"]
    target = tmp_path / "backup"
    with running_service(data) as service, CountingLoad(service, keys, pause_s=0.01) as load:
        load.wait_for(20)
        promised = load.acknowledged.copy()
        said = widget_catalog("backup", target, "--data", data)
        assert said.code == 0, said
        load.wait_for(20)
        assert load.statuses.keys() == {200}
    assert widget_catalog("restore", target, "--data", tmp_path / "restored").code == 0
    node = prepare_node(tmp_path / "restored")
    for number, key in enumerate(keys):
        assert promised[key] <= node.counts.slots[number + 1] - number <= load.attempted[key]
    node.store.close()


def test_what_cannot_be_done_is_said_in_a_sentence(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("mine")

    def said(*arguments: str | Path, before: Callable[[], None] | None = None) -> str:
        told = widget_catalog(*arguments, before=before)
        assert (told.code, told.out) == (1, "")
        return told.err

    target = tmp_path / "backup"
    assert said("backup", file, "--data", data) == (
        f"Error: {file} is a file. Pass a folder, or a file with the suffix .tar.zst.\n"
    )
    for name in ("foo.zip", "foo.tar.gz", "foo.ZST"):
        assert said("backup", tmp_path / name, "--data", data) == (
            f"Error: {tmp_path}/{name}: a backup is a folder, or a file with the suffix "
            ".tar.zst. To back up to a folder with this name, create it first.\n"
        )
        assert not (tmp_path / name).exists()
    assert said("backup", target, "--data", tmp_path / "nowhere") == (
        f"Error: There is no data folder {tmp_path}/nowhere.\n"
    )
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    assert said("backup", locked / "backup", "--data", data, before=without_root_powers) == (
        f"Error: {locked}/backup cannot be written: Permission denied.\n"
    )
    assert said("restore", target, "--data", tmp_path / "new") == (
        f"Error: There is no backup {target}.\n"
    )
    half = tmp_path / "half" / "snapshots" / "000001-2026-01-01T00-00-00Z"
    half.mkdir(parents=True)
    listed = widget_catalog("restore", tmp_path / "half", "--list")
    about = "damaged: manifest.json cannot be read (No such file or directory)."
    assert listed == Said(1, f"{half.name}  {about}\n", "")
    assert said("restore", tmp_path / "half", "--data", tmp_path / "new") == (
        f"Error: snapshots/{half.name}/manifest.json is missing.\n"
        "Another snapshot may be whole: --list lists them, --snapshot NAME takes one.\n"
    )
    unreadable = tmp_path / "unreadable.tar.zst"
    unreadable.touch(mode=0o000)
    assert said("restore", unreadable, "--check", before=without_root_powers) == (
        f"Error: {unreadable} cannot be used: Permission denied.\n"
    )
    assert said("restore", file, "--data", tmp_path / "new").startswith(
        "Error: notes.txt is damaged, or is not a backup"
    )
    assert not target.exists()
    assert not (tmp_path / "new").exists()


class _Filled(NamedTuple):
    """The output of the second backup, the snapshots after it, and the result of a check."""

    code: int
    said: str
    snapshots: list[str]
    checked: str


def _fill_files(data: Path, target: Path) -> _Filled:
    """Limit the file size below that of a snapshot, which works on every machine."""
    assert widget_catalog("backup", target, "--data", data).code == 0

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    said = widget_catalog("backup", target, "--data", data, before=limit)
    snapshots = [it.name for it in (target / "snapshots").iterdir()]
    return _Filled(said.code, said.err, snapshots, widget_catalog("restore", target, "--check").err)


def _fill_disk(data: Path, target: Path) -> _Filled:
    """A small tmpfs, with space for only one snapshot."""
    target.mkdir()
    run = f"'{sys.executable}' -m widget_catalog"
    backup = f"{run} backup '{target}' --data '{data}'"
    script = (
        f"mount -t tmpfs -o size=600k none '{target}' && {backup} 2>/dev/null && {{ "
        f"{backup} 2>'{target}.said'; echo $?; ls -A '{target}/snapshots'; "
        f"{run} restore '{target}' --check 2>'{target}.checked'; }}"
    )
    done = subprocess.run(
        [*UNSHARE, "sh", "-c", script],
        stdout=subprocess.PIPE,
        text=True,
        env=clean_environment(),
        check=False,
    )
    said, checked = (Path(f"{target}.{name}").read_text() for name in ("said", "checked"))
    code, *snapshots = done.stdout.splitlines()
    return _Filled(int(code), said, snapshots, checked)


_FULL = [(_fill_files, "disk I/O error")]
if may_mount():
    _FULL.append((_fill_disk, "database or disk is full"))


@pytest.mark.parametrize(("fill", "reason"), _FULL)
def test_a_full_disk_is_said_and_leaves_the_last_backup(
    fill: Callable[[Path, Path], _Filled], reason: str, data: Path, tmp_path: Path
) -> None:
    filled = fill(data, tmp_path / "backup")

    assert (filled.code, [it[:7] for it in filled.snapshots]) == (1, ["000001-"]), filled
    assert reason in filled.said
    assert "is intact" in filled.checked


def test_a_database_of_an_older_release_is_backed_up_as_it_is(data: Path, tmp_path: Path) -> None:
    """Just before an upgrade, with the new release installed already."""
    add_next_step(tmp_path / "migrations")

    for given in (
        ("backup", tmp_path / "b", "--data", data),
        ("restore", tmp_path / "b", "--data", tmp_path / "restored"),
    ):
        ran = run_module(
            "core.db.later_release",
            str(tmp_path / "migrations"),
            *map(str, given),
            environ=clean_environment(),
        )
        assert ran.returncode == 0, ran.stderr

    for folder in (data, tmp_path / "restored"):
        with sqlite3.connect(folder / "catalog.db") as database:
            query = "SELECT version_num FROM alembic_version"
            assert database.execute(query).fetchone() == (SCHEMA,)
        database.close()


def test_a_damaged_backup_is_refused_and_what_is_intact_can_be_copied_from_it(
    data: Path, tmp_path: Path
) -> None:
    target, restored = tmp_path / "backup", tmp_path / "restored"
    assert widget_catalog("backup", target, "--data", data).code == 0
    flipped, gone, *_ = sorted((target / "bundles").rglob("*.js"))
    flipped.write_bytes(b"E" + flipped.read_bytes()[1:])
    gone.unlink()
    errors = [
        f"{gone.relative_to(target)} is missing.",
        f"{flipped.relative_to(target)} is damaged: its hash is not the one in SHA256SUMS.",
    ]

    mistaken = widget_catalog("stats", "--data", target)
    assert mistaken.err == (
        f"Error: {target} is a backup folder, not a data folder. Restore it into a new folder: "
        f"widget-catalog restore {target} --data NEW.\n"
    )
    refused = widget_catalog("restore", target, "--data", restored)
    assert (refused.code, restored.exists()) == (1, False)
    assert refused.err.removeprefix("Error: ").splitlines() == [
        *errors,
    ]

    # As the guide says.
    (snapshot,) = (target / "snapshots").iterdir()
    restored.mkdir()
    shutil.copy(snapshot / "catalog.db", restored)
    shutil.copytree(target / "bundles", restored / "bundles")
    found = widget_catalog("doctor", "--data", restored)
    assert found.code == 1
    assert found.err.count("Error: acme/w") == 2
    assert exported(restored) == exported(data)

    flipped.unlink()
    again = widget_catalog("backup", target, "--data", data)
    assert again.code == 0
    assert "Copied 2 bundles that were not in the folder yet." in again.err
    assert widget_catalog("restore", target, "--check").code == 0


def _make_folders_read_only(commands: list[list[str]], *folders: Path) -> tuple[list[int], str]:
    """By permissions, which works on every machine."""
    with contextlib.ExitStack() as stack:
        for folder in folders:
            stack.enter_context(read_only(folder))
        said = [widget_catalog(*command, before=without_root_powers) for command in commands]
    return [it.code for it in said], "".join(it.err for it in said)


def _mount_read_only(commands: list[list[str]], *folders: Path) -> tuple[list[int], str]:
    mounts = [f"mount --bind '{it}' '{it}' && mount -o remount,bind,ro '{it}'" for it in folders]
    run = shlex.join([sys.executable, "-m", "widget_catalog"])
    lines = [f"{run} {shlex.join(command)}; echo $?" for command in commands]
    done = subprocess.run(
        [*UNSHARE, "sh", "-c", f"{' && '.join(mounts)} && {{ {'; '.join(lines)}; }}"],
        capture_output=True,
        text=True,
        env=clean_environment(),
        check=False,
    )
    return [int(code) for code in done.stdout.split()], done.stderr


@pytest.mark.parametrize(
    "on_read_only",
    [_make_folders_read_only, _mount_read_only] if may_mount() else [_make_folders_read_only],
)
def test_a_read_only_disk_is_backed_up_and_exported(
    on_read_only: Callable[..., tuple[list[int], str]], data: Path, tmp_path: Path
) -> None:
    """Like a failing disk: remounted under a killed service, with a log, or without."""
    killed = Path(shutil.copytree(data, tmp_path / "killed"))
    with contextlib.closing(sqlite3.connect(killed / "catalog.db")) as database:
        database.execute("UPDATE accounts SET email = 'in@the.log'")
        database.commit()
        with_log = Path(shutil.copytree(killed, tmp_path / "with-log"))
    (with_log / "catalog.db-shm").unlink()
    assert (with_log / "catalog.db-wal").stat().st_size
    for file in data.glob("catalog.db-*"):
        file.unlink()
    commands = [
        [*command, "--data", str(folder)]
        for folder in (data, with_log)
        for command in (
            ["backup", f"{tmp_path}/b-{folder.name}"],
            ["export", f"{tmp_path}/{folder.name}.ndjson"],
        )
    ]
    before = files_of(data), files_of(with_log)

    codes, said = on_read_only(commands, data, with_log)

    assert codes == [0, 0, 0, 1], said
    assert (
        f"Error: The data folder {with_log} is read-only, and its database cannot be opened "
        "there: it was not closed. widget-catalog backup can copy it; restore that backup into "
        "another folder, and use this folder.\n"
    ) in said
    assert (files_of(data), files_of(with_log)) == before
    assert (tmp_path / "data.ndjson").read_bytes().count(b"\n") == 4
    [snapshot] = (tmp_path / "b-with-log" / "snapshots").iterdir()
    assert {it.name for it in snapshot.iterdir()} == {"catalog.db", "manifest.json", "SHA256SUMS"}
    with contextlib.closing(sqlite3.connect(snapshot / "catalog.db")) as database:
        assert database.execute("SELECT email FROM accounts").fetchone() == ("in@the.log",)
