"""Backups in a folder: complete, verified, incremental, and never partial."""

import fcntl
import os
import sqlite3
import subprocess
import threading
from functools import partial
from pathlib import Path

import pytest

from backup.backups import (
    back_up,
    catalog_at,
    catalog_with_bundles,
    change_one_letter,
    exported,
    files_of,
)
from widget_catalog.backup.layout import hash_of, list_snapshots
from widget_catalog.backup.reader import check_backup
from widget_catalog.backup.restore import restore_backup
from widget_catalog.backup.writer import back_up_to_file
from widget_catalog.catalog.node.node import prepare_node
from widget_catalog.catalog.store.downloads import add_downloads
from widget_catalog.catalog.store.files import list_revoked_files, withdraw_files
from widget_catalog.core.actors import COMMAND_LINE
from widget_catalog.core.errors import BackupFailed, InvalidBackup, StoreUnavailable
from widget_catalog.moderation.revoke_version import revoke_version

pytestmark = pytest.mark.slow


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return catalog_with_bundles(tmp_path)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "backup"


def test_what_is_restored_is_what_was_backed_up(data: Path, target: Path, tmp_path: Path) -> None:
    made = back_up(data, target)

    restored = restore_backup(target, tmp_path / "restored")

    assert restored.manifest == made.manifest
    assert made.manifest.rows["widgets"] == 4
    assert (made.manifest.bundles, made.bundles_copied, made.manifest.missing) == (4, 4, [])
    assert exported(tmp_path / "restored") == exported(data)
    assert files_of(tmp_path / "restored" / "bundles") == files_of(data / "bundles")
    # Signing keys are created again; the key of the authenticator apps is backed up separately.
    assert not any("key" in path for path in files_of(target))


def test_a_revoked_version_and_its_files_are_in_the_backup(
    data: Path, target: Path, tmp_path: Path
) -> None:
    node = prepare_node(data)
    revoke_version(node.store, node.bundles, COMMAND_LINE, "acme/w0", "1.0.0", "Bad.")
    node.store.close()

    made = back_up(data, target)
    restore_backup(target, tmp_path / "restored")

    assert (made.manifest.bundles, made.manifest.missing) == (4, [])
    assert exported(tmp_path / "restored") == exported(data)
    node = prepare_node(tmp_path / "restored")
    withdraw_files(node.store, node.bundles)  # As a start does.
    with node.store.reading() as connection:
        assert len(list(list_revoked_files(connection))) == 2
    node.store.close()
    assert files_of(tmp_path / "restored" / "bundles") == files_of(data / "bundles")
    assert sum(it.endswith(".revoked") for it in files_of(data / "bundles")) == 2


def test_the_list_of_hashes_is_one_that_sha256sum_checks(data: Path, target: Path) -> None:
    made = back_up(data, target)

    sums = str((made.path / "SHA256SUMS").relative_to(target))
    done = subprocess.run(
        ["sha256sum", "--strict", "--check", sums],
        cwd=target,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout.count(": OK")) == (0, 6)


def test_bundles_are_copied_once_and_old_snapshots_are_removed(data: Path, target: Path) -> None:
    names = [back_up(data, target, keep=2).path.name for _ in range(3)]
    bundle = next((target / "bundles").rglob("*.js"))
    inode = bundle.stat().st_ino
    again = back_up(data, target, keep=2)

    assert again.bundles_copied == 0
    assert bundle.stat().st_ino == inode
    assert list_snapshots(target) == [names[-1], again.path.name]
    assert check_backup(target, names[-1]).name == names[-1]


def test_a_copy_is_of_one_instant_however_much_is_written_meanwhile(
    data: Path, target: Path
) -> None:
    """Two counts always change together: no copy may have only one of the changes."""
    is_over = threading.Event()
    node = prepare_node(data)
    written = 0

    def write() -> None:
        nonlocal written
        while not is_over.is_set():
            with node.store.writing() as tx:
                add_downloads(tx, {2: 1, 3: 1})
            written += 1

    # Large enough that the copy takes many steps.
    with sqlite3.connect(data / "catalog.db") as database:
        database.execute("CREATE TABLE ballast (content BLOB)")
        database.executemany("INSERT INTO ballast VALUES (zeroblob(1000000))", [()] * 60)
    database.close()
    writer = threading.Thread(target=write)
    writer.start()
    try:
        before = written
        copies = [back_up(data, target) for _ in range(3)]
        assert written > before
    finally:
        is_over.set()
        writer.join()
        node.store.close()

    for made in copies:
        with sqlite3.connect(made.path / "catalog.db") as database:
            query = "SELECT count - widget_id FROM downloads WHERE widget_id IN (2, 3)"
            differences = {row[0] for row in database.execute(query)}
        database.close()
        assert len(differences) == 1


def test_a_bundle_that_is_missing_or_damaged_is_named_and_the_rest_is_saved(
    data: Path, target: Path, tmp_path: Path
) -> None:
    missing, damaged, *_ = sorted((data / "bundles").rglob("*.js"))
    missing.unlink()
    damaged.chmod(0o600)
    damaged.write_bytes(b"something else")

    made = back_up(data, target)

    named = sorted(str(it.relative_to(data)) for it in (missing, damaged))
    assert sorted(made.manifest.missing) == named
    assert made.manifest.bundles == 2
    assert restore_backup(target, tmp_path / "restored").manifest.missing == made.manifest.missing


def test_a_bundle_that_was_saved_before_it_was_damaged_is_still_whole(
    data: Path, target: Path
) -> None:
    back_up(data, target)
    next((data / "bundles").rglob("*.js")).unlink()

    assert back_up(data, target).manifest.missing == []
    assert check_backup(target).manifest.bundles == 4


def test_a_damaged_database_makes_no_backup_and_pushes_none_out(data: Path, target: Path) -> None:
    good = back_up(data, target, keep=1)
    content = bytearray((data / "catalog.db").read_bytes())
    content[-40_960:-36_864] = b"\xa5" * 4096
    (data / "catalog.db").write_bytes(content)

    with pytest.raises((BackupFailed, StoreUnavailable), match="is damaged"):
        back_up(data, target, keep=1)

    assert list_snapshots(target) == [good.path.name]
    check_backup(target)


def test_what_an_interrupted_backup_left_is_removed_by_the_next(data: Path, target: Path) -> None:
    back_up(data, target)
    whole = set(files_of(target))
    half = target / "snapshots" / ".partial-000009-2026-01-01T00-00-00Z"
    half.mkdir()
    (half / "catalog.db").write_bytes(b"half")
    bundle = next((target / "bundles").rglob("*.js"))
    bundle.with_name(f".partial-{bundle.name}").write_bytes(b"half")

    made = back_up(data, target)

    new = {f"snapshots/{made.path.name}/{it}" for it in ("catalog.db", "manifest.json")}
    assert set(files_of(target)) == whole | new | {f"snapshots/{made.path.name}/SHA256SUMS"}


def test_only_one_backup_at_a_time_writes_to_a_folder(data: Path, target: Path) -> None:
    back_up(data, target)
    descriptor = os.open(target, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        with pytest.raises(BackupFailed, match="Another backup is being written"):
            back_up(data, target)
    finally:
        os.close(descriptor)


def test_a_clock_that_was_set_back_does_not_make_an_old_snapshot_the_newest(
    data: Path, target: Path
) -> None:
    (first,) = (back_up(data, target).path,)
    first.rename(first.with_name("000007-2999-01-01T00-00-00Z"))

    assert back_up(data, target).path.name.startswith("000008-2")


@pytest.mark.parametrize("inside", ["backup", "bundles", "x.tar.zst", ""])
def test_a_backup_inside_the_data_folder_is_refused(data: Path, inside: str) -> None:
    before = files_of(data)
    how = partial(back_up_to_file, data / inside, catalog_at(data))
    if not inside.endswith(".zst"):
        how = partial(back_up, data, data / inside)
    with pytest.raises(BackupFailed, match="is inside the data folder"):
        how()
    assert files_of(data).keys() == before.keys()


def test_a_folder_with_something_else_in_it_is_refused(data: Path, tmp_path: Path) -> None:
    with pytest.raises(BackupFailed, match="is not empty, and is not a backup folder"):
        back_up(data, tmp_path)


def test_a_changed_letter_in_the_database_makes_no_backup_and_pushes_none_out(
    data: Path, target: Path, tmp_path: Path
) -> None:
    """SQLite's own check does not detect it; the checksum of the row does."""
    good = back_up(data, target, keep=1)
    before = files_of(target)
    change_one_letter(data / "catalog.db")
    said = (
        r"The database is damaged\. No backup was made, and no snapshot was removed\.\n"
        r"catalog\.db: version 1\.0\.0 of acme/w1 is not what was written: "
        r"its checksum is wrong\.\n"
        r"Run doctor\. If it finds the same, restore the last good snapshot\."
    )

    with pytest.raises(BackupFailed, match=said):
        back_up(data, target, keep=1)
    with pytest.raises(BackupFailed, match=said):
        back_up_to_file(tmp_path / "file.tar.zst", catalog_at(data))

    assert files_of(target) == before
    assert not (tmp_path / "file.tar.zst").exists()
    assert check_backup(target).name == good.path.name


def test_a_snapshot_with_a_damaged_row_is_not_called_whole(data: Path, target: Path) -> None:
    """Made by an earlier release: its hashes are right, but its rows were already wrong."""
    made = back_up(data, target)
    database, sums = made.path / "catalog.db", made.path / "SHA256SUMS"
    before = hash_of(database)
    change_one_letter(database)
    sums.write_text(sums.read_text().replace(before, hash_of(database)))

    with pytest.raises(InvalidBackup, match=r"version 1\.0\.0 of acme/w1 is not what was written"):
        check_backup(target)


def test_a_boolean_and_a_text_that_no_release_writes_are_damage(data: Path, target: Path) -> None:
    for change, said in (
        ("UPDATE widgets SET is_listed = 3 WHERE name = 'w1'", "the widget acme/w1"),
        ("UPDATE widgets SET icon = x'ff' WHERE name = 'w2'", "the widget acme/w2"),
        ("UPDATE widgets SET icon = CAST(x'ff' AS TEXT) WHERE name = 'w1'", "UTF-8"),
    ):
        with sqlite3.connect(data / "catalog.db") as database:
            database.execute(change)
        database.close()
        with pytest.raises(BackupFailed, match=said):
            back_up(data, target)


def test_a_bundle_that_was_cut_off_in_the_backup_is_copied_again(data: Path, target: Path) -> None:
    back_up(data, target)
    whole = files_of(target / "bundles")
    cut, lost, *_ = sorted((target / "bundles").rglob("*.js"))
    for damaged in (cut, lost):
        damaged.write_bytes(damaged.read_bytes()[:-1])
    (data / lost.relative_to(target)).unlink()

    made = back_up(data, target)

    assert made.repaired == [str(cut.relative_to(target))]
    assert made.manifest.missing == [str(lost.relative_to(target))]
    assert cut.read_bytes() == whole[str(cut.relative_to(target / "bundles"))]
    assert lost.with_name(f"{lost.name}.damaged").exists()
    check_backup(target)
