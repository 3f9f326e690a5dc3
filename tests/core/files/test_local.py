"""Bundles on local disk."""

import fcntl
import hashlib
import io
import os
import shutil
from pathlib import Path

import pytest

from widget_catalog.catalog.node.opening import make_folder
from widget_catalog.core.data_folder import DataFolder
from widget_catalog.core.files.local import LocalBundles


def test_a_bundle_and_every_folder_on_the_way_to_it_are_fsynced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    fsync = os.fsync

    def note(descriptor: int) -> None:
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink())
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    source = tmp_path / "clock.js"
    source.write_bytes(b"export default 1;\n")
    sha256_hash = hashlib.sha256(source.read_bytes()).hexdigest()
    folder = DataFolder(tmp_path / "new" / "data")

    make_folder(folder)
    # A name is durable when its folder is.
    assert {tmp_path, tmp_path / "new", folder.path} <= set(synced)
    synced.clear()
    make_folder(folder)
    assert synced == []
    with source.open("rb") as stream:
        LocalBundles(folder.bundles).put(stream, sha256_hash)

    file, *folders = synced
    assert file.parent == folder.bundles
    assert folders == [folder.bundles / sha256_hash[:2], folder.bundles]


def test_a_damaged_bundle_is_replaced_when_its_bytes_come_again(tmp_path: Path) -> None:
    content = b"export default 1;\n"
    sha256_hash = hashlib.sha256(content).hexdigest()
    bundles = LocalBundles(tmp_path)
    bundles.put(io.BytesIO(content), sha256_hash)
    path = bundles.local_path(sha256_hash)
    path.chmod(0o644)
    path.write_bytes(b"x")

    assert bundles.put(io.BytesIO(content), sha256_hash)
    assert path.read_bytes() == content
    assert path.stat().st_mode & 0o777 == 0o444


def test_what_a_killed_writer_has_left_is_removed_and_what_is_being_written_is_not(
    tmp_path: Path,
) -> None:
    bundles = LocalBundles(tmp_path)
    left, written = tmp_path / ".incoming-left", tmp_path / ".incoming-written"
    left.write_bytes(b"half")
    with written.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        bundles.remove_leftovers()
        assert [it.place for it in bundles.list_leftovers()] == [str(written)]
    bundles.remove_leftovers()
    assert list(bundles.list_leftovers()) == []


def test_a_removed_bundle_leaves_no_empty_folder_and_no_other_file_goes_with_it(
    tmp_path: Path,
) -> None:
    bundles = LocalBundles(tmp_path)
    for content in (b"1", b"12"):  # Their hashes have the same prefix.
        bundles.put(io.BytesIO(content), hashlib.sha256(content).hexdigest())
    first, second = (hashlib.sha256(it).hexdigest() for it in (b"1", b"12"))
    assert first[:2] == second[:2]

    bundles.remove(first)
    assert bundles.stat(second) is not None
    bundles.remove(second)

    assert list(tmp_path.iterdir()) == []


def test_a_compressed_form_of_a_file_that_was_removed_is_not_stored(tmp_path: Path) -> None:
    bundles = LocalBundles(tmp_path)

    bundles.put_encoded(b"form", "ab" * 32, "js", "br")

    assert list(tmp_path.rglob("*")) == []


def test_compressed_forms_leave_the_last_space_on_the_disk_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=200 << 20)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)

    with pytest.raises(OSError, match="No space left on device"):
        LocalBundles(tmp_path).put_encoded(b"form", "ab" * 32, "js", "br")

    assert list(tmp_path.rglob("*")) == []
