"""Damaged backups: every wrong byte is detected and reported, and nothing is restored."""

import io
import random
import shutil
import tarfile
from pathlib import Path

import pytest
import zstandard

from backup.backups import (
    back_up,
    catalog_at,
    catalog_with_bundles,
    exported,
    files_of,
)
from support.archives import extract_all
from widget_catalog.backup.layout import hash_of, writing_archive
from widget_catalog.backup.reader import check_backup
from widget_catalog.backup.restore import restore_backup
from widget_catalog.backup.writer import back_up_to_file
from widget_catalog.catalog.node.opening import require_whole
from widget_catalog.core.errors import BackupFailed, InvalidBackup
from widget_contract.errors import CatalogError


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return catalog_with_bundles(tmp_path_factory.mktemp("catalog"))


@pytest.fixture(scope="module")
def good(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("good")
    back_up(data, folder / "folder")
    back_up_to_file(folder / "file.tar.zst", catalog_at(data))
    return folder


@pytest.fixture
def folder(good: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(good / "folder", tmp_path / "folder"))


@pytest.fixture
def file(good: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(good / "file.tar.zst", tmp_path / "file.tar.zst"))


def _flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1 << (at % 8)
    path.write_bytes(content)


def _refused(source: Path) -> str:
    """The errors of a restore, which leaves nothing behind."""
    target = source.parent / "restored"
    with pytest.raises(CatalogError) as caught:
        restore_backup(source, target)
    assert not target.exists()
    return caught.value.message


def test_a_file_restores_as_well_as_a_folder(file: Path, data: Path, tmp_path: Path) -> None:
    restored = restore_backup(file, tmp_path / "restored")

    assert restored.manifest.bundles == 4
    assert exported(tmp_path / "restored") == exported(data)
    assert files_of(tmp_path / "restored" / "bundles") == files_of(data / "bundles")


def test_an_unpacked_file_is_a_backup_folder(file: Path, tmp_path: Path) -> None:
    with file.open("rb") as packed:
        content = zstandard.ZstdDecompressor().stream_reader(packed).read()
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        extract_all(archive, tmp_path / "unpacked")

    assert check_backup(tmp_path / "unpacked").manifest == check_backup(file).manifest


def test_a_flipped_bit_in_any_file_of_a_folder_is_found_and_named(folder: Path) -> None:
    choose = random.Random(1)
    for path in sorted(it for it in folder.rglob("*") if it.is_file()):
        whole = path.read_bytes()
        path.chmod(0o600)
        places = {0, len(whole) - 1, *(choose.randrange(len(whole)) for _ in range(4))}
        for at in places:
            _flip(path, at)
            assert path.name in _refused(folder), (path, at)
            path.write_bytes(whole)
    check_backup(folder)


def test_a_flipped_bit_in_a_file_is_found_or_changes_nothing_in_it(file: Path) -> None:
    whole, manifest = file.read_bytes(), check_backup(file).manifest
    choose = random.Random(2)
    found = 0
    for at in (*range(8), *(choose.randrange(len(whole)) for _ in range(60))):
        _flip(file, at)
        try:
            assert check_backup(file).manifest == manifest
        except InvalidBackup:
            found += 1
        file.write_bytes(whole)
    assert found > 60


def test_a_file_that_is_cut_off_is_found(file: Path) -> None:
    whole = file.read_bytes()
    for size in (0, 1, 100, len(whole) // 2, len(whole) - 1_000):
        file.write_bytes(whole[:size])
        assert _refused(file)


@pytest.mark.parametrize("pattern", ["**/*.js", "**/*.css", "**/catalog.db", "**/manifest.json"])
def test_a_file_that_is_missing_from_a_folder_is_named(folder: Path, pattern: str) -> None:
    missing = next(folder.glob(pattern))
    missing.unlink()

    assert missing.name in _refused(folder)


@pytest.mark.parametrize("pattern", ["**/*.js", "**/catalog.db", "**/SHA256SUMS"])
def test_a_file_of_a_folder_that_is_cut_off_is_named(folder: Path, pattern: str) -> None:
    cut = next(folder.glob(pattern))
    cut.chmod(0o600)
    cut.write_bytes(cut.read_bytes()[:-5])

    assert cut.name in _refused(folder)


def test_all_that_is_wrong_is_reported_at_once(folder: Path) -> None:
    first, second, *_ = sorted((folder / "bundles").rglob("*.js"))
    first.unlink()
    second.chmod(0o600)
    second.write_bytes(b"something else")

    said = _refused(folder).splitlines()

    assert said == [
        f"{first.relative_to(folder)} is missing.",
        f"{second.relative_to(folder)} is damaged: its hash is not the one in SHA256SUMS.",
    ]


def test_a_line_that_was_removed_from_the_list_of_hashes_is_noticed(folder: Path) -> None:
    sums = next(folder.glob("**/SHA256SUMS"))
    lines = sums.read_text().splitlines(keepends=True)
    sums.write_text("".join(lines[1:]))

    assert "is missing, and a version refers to it" in _refused(folder)


def test_a_backup_of_a_newer_release_is_refused_with_a_sentence(folder: Path) -> None:
    manifest = next(folder.glob("**/manifest.json"))
    text = manifest.read_text()
    for change, said in (
        (('"format": 1', '"format": 99'), "has format 99, not 1. Use the release that made it."),
        (('"schema": "0', '"schema": "9'), "made by a newer release of Widget Catalog"),
    ):
        sums = manifest.with_name("SHA256SUMS")
        before = hash_of(manifest)
        manifest.write_text(text.replace(*change))
        sums.write_text(sums.read_text().replace(before, hash_of(manifest)))

        assert said in _refused(folder)


def test_what_is_no_backup_is_called_so(tmp_path: Path, data: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    assert "is not a backup" in _refused(other)
    assert "is not a backup" in _refused(data)
    text = tmp_path / "text.tar.zst"
    text.write_bytes(zstandard.compress(b"hello" * 1000))
    assert "is not a backup" in _refused(text)


def test_a_file_that_would_leave_the_folder_is_refused(tmp_path: Path) -> None:
    evil = tmp_path / "evil.tar.zst"
    with evil.open("wb") as packed, writing_archive(packed, 0) as archive:
        archive.add("snapshots/../../evil", b"")

    assert "does not belong into a backup" in _refused(evil)
    assert not (tmp_path / "evil").exists()


def test_a_folder_with_something_in_it_is_never_restored_to(good: Path, tmp_path: Path) -> None:
    target = tmp_path / "data"
    target.mkdir()
    (target / "lost+found").mkdir()
    (target / "mine").write_text("keep me")
    with pytest.raises(BackupFailed, match="is not empty"):
        restore_backup(good / "folder", target)
    assert files_of(target) == {"mine": b"keep me"}
    (target / "mine").unlink()

    restore_backup(good / "folder", target)

    assert (target / "catalog.db").exists()


def test_a_restore_that_was_interrupted_starts_over(good: Path, data: Path, tmp_path: Path) -> None:
    target = tmp_path / "data"
    (target / "bundles" / "ab").mkdir(parents=True)
    (target / "bundles" / "ab" / "half.js").write_text("half")
    (target / ".restoring").touch()
    with pytest.raises(CatalogError, match="was interrupted"):
        require_whole(target)

    restore_backup(good / "file.tar.zst", target)

    require_whole(target)
    assert files_of(target / "bundles") == files_of(data / "bundles")


def test_a_snapshot_is_named_by_how_its_name_begins(folder: Path, data: Path) -> None:
    first, second = check_backup(folder).name, back_up(data, folder).path.name
    (folder / "snapshots" / second / "SHA256SUMS").unlink()

    assert check_backup(folder, "000001").name == first
    with pytest.raises(InvalidBackup, match=r"There are several snapshots 00000 in .*000001.*2-"):
        check_backup(folder, "00000")
    for unknown in ("000003", "", ".."):
        with pytest.raises(InvalidBackup, match="There is no snapshot"):
            check_backup(folder, unknown)
    with pytest.raises(InvalidBackup) as caught:
        check_backup(folder)
    assert caught.value.message == (
        f"snapshots/{second}/SHA256SUMS is missing: this snapshot is not complete.\n"
        "Another snapshot may be whole: --list lists them, --snapshot NAME takes one."
    )
