"""Bundles on local disk."""

import hashlib
import os
from pathlib import Path

import pytest

from widget_catalog.bundles.local import LocalBundles
from widget_catalog.wiring import DataFolder, make_folder


def test_a_bundle_and_every_folder_on_the_way_to_it_are_written_through(
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
    # A name is durable when the folder that it is in is.
    assert {tmp_path, tmp_path / "new", folder.path} <= set(synced)
    synced.clear()
    make_folder(folder)
    assert synced == []
    LocalBundles(folder.bundles).put_file(source, sha256_hash)

    file, *folders = synced
    assert file.parent == folder.bundles
    assert folders == [folder.bundles / sha256_hash[:2], folder.bundles]
