"""Files are hashed when they are first used, and all of them once a day."""

import fcntl
import gzip
import hashlib
import os
import time
from pathlib import Path

import pytest

from support.service import wait_for
from widget_catalog.core.files.contract import KINDS
from widget_catalog.core.files.verified import Scrub, VerifiedFiles, remove_damaged, set_aside

FAST_MB_PER_S = 1_000


def store(folder: Path, content: bytes, kind: str = "js") -> Path:
    sha256_hash = hashlib.sha256(content).hexdigest()
    path = folder / sha256_hash[:2] / f"{sha256_hash[2:]}.{kind}"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return path


def hash_of(path: Path) -> str:
    return path.parent.name + path.stem


def rot(path: Path) -> None:
    """Another byte, and the same size, time and inode: what a bad disk does."""
    before = path.stat()
    content = path.read_bytes()
    with path.open("r+b") as file:
        file.write(bytes([content[0] ^ 1]))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_file_is_read_once_and_again_when_it_was_changed(tmp_path: Path) -> None:
    path = store(tmp_path, b"a bundle")
    files = VerifiedFiles()
    assert files.find(path, hash_of(path), 8) is None
    assert files.verify(path, hash_of(path))
    assert files.find(path, hash_of(path), 8) is True
    assert files.find(path, hash_of(path), 9) is False, "Another size."

    path.write_bytes(b"a bungle")
    os.utime(path, (1, 1))

    assert files.find(path, hash_of(path), 8) is None
    assert not files.verify(path, hash_of(path))
    assert files.find(path, hash_of(path), 8) is False
    path.unlink()
    assert files.find(path, hash_of(path), 8) is False
    assert not files.verify(path, hash_of(path))


def store_form(file: Path, content: bytes) -> Path:
    path = file.with_name(f"{file.name}.gz")
    path.write_bytes(gzip.compress(content))
    return path


def test_a_compressed_form_is_decoded_once_and_again_when_it_was_changed(tmp_path: Path) -> None:
    content = b"a bundle " * 100
    file = store(tmp_path, content)
    sha256_hash, files = hash_of(file), VerifiedFiles()
    form = store_form(file, content)
    size = form.stat().st_size
    assert files.find_encoded(form, sha256_hash) is None
    assert files.verify_encoded(form, "gzip", sha256_hash, len(content)) == form.stat().st_size
    assert files.find_encoded(form, sha256_hash) == size
    assert files.find_encoded(form, "0" * 64) is None, "It is a form of another file."
    before = form.stat()
    form.write_bytes(form.read_bytes()[:-1])
    os.utime(form, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert files.find_encoded(form, sha256_hash) is None, "Another size."

    for damaged in (gzip.compress(content + b"!"), gzip.compress(content) + b"!", b"x" * 5_000):
        form.write_bytes(damaged)
        assert files.verify_encoded(form, "gzip", sha256_hash, len(content)) is None
        assert files.find_encoded(form, sha256_hash) is None
    form.write_bytes(b"")
    assert files.find_encoded(form, sha256_hash) == 0
    form.unlink()
    assert files.find_encoded(form, sha256_hash) is None
    assert files.verify_encoded(form, "gzip", sha256_hash, len(content)) is None


def test_a_round_finds_compressed_forms_that_have_rotted(tmp_path: Path) -> None:
    (tmp_path / "bundles").mkdir()
    contents = [b"bundle %d " % number * 100 for number in range(3)]
    forms = [store_form(store(tmp_path / "bundles", it), it) for it in contents]
    rot(forms[1])
    found: list[Path] = []
    scrub = Scrub(tmp_path / "bundles", tmp_path / "lock", FAST_MB_PER_S, found.append)
    wait_for(lambda: scrub.verified == 6)
    scrub.close()
    assert found == [forms[1]]


def test_only_a_damaged_file_is_set_aside(tmp_path: Path) -> None:
    path = store(tmp_path, b"a bundle")
    assert not set_aside(path)
    rot(path)
    assert set_aside(path)
    assert [it.name for it in path.parent.iterdir()] == [f"{path.name}.damaged"]


def test_only_a_damaged_file_is_removed(tmp_path: Path) -> None:
    path = store(tmp_path, b"a bundle" * 100)
    form = store_form(path, b"a bundle" * 100)
    assert not remove_damaged(path)
    assert not remove_damaged(form)
    for it in (path, form):
        rot(it)
        assert remove_damaged(it)
        assert not remove_damaged(it), "It is gone."
    assert list(path.parent.iterdir()) == []


def test_a_round_finds_what_has_rotted_and_is_not_repeated_at_once(tmp_path: Path) -> None:
    (tmp_path / "bundles").mkdir()
    paths = [store(tmp_path / "bundles", b"bundle %d" % number) for number in range(30)]
    rot(paths[7])
    (paths[3].parent / f"{paths[3].name}.revoked").write_bytes(b"not looked at")
    found: list[Path] = []
    scrub = Scrub(tmp_path / "bundles", tmp_path / "lock", FAST_MB_PER_S, found.append)
    wait_for(lambda: scrub.verified == 30)
    scrub.close()
    with (tmp_path / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # The end of the round is noted by now.
    scrub = Scrub(tmp_path / "bundles", tmp_path / "lock", FAST_MB_PER_S, found.append)
    time.sleep(1)
    scrub.close()
    assert scrub.verified == 0, "It was too soon."
    assert found == [paths[7]]


def test_a_round_reads_files_of_every_kind(tmp_path: Path) -> None:
    (tmp_path / "bundles").mkdir()
    paths = {store(tmp_path / "bundles", kind.encode(), kind) for kind in KINDS}
    for path in paths:
        rot(path)
    found: list[Path] = []
    scrub = Scrub(tmp_path / "bundles", tmp_path / "lock", FAST_MB_PER_S, found.append)
    wait_for(lambda: scrub.verified == len(KINDS))
    scrub.close()
    assert set(found) == paths


def test_a_round_that_was_interrupted_goes_on(tmp_path: Path) -> None:
    (tmp_path / "bundles").mkdir()
    paths = sorted(store(tmp_path / "bundles", b"bundle %d" % number) for number in range(30))
    last = f"{paths[19].parent.name}/{paths[19].name}"
    (tmp_path / "lock").write_text(f'{{"after":"{last}","finished_at":0}}')
    for path in (paths[5], paths[25]):
        rot(path)
    found: list[Path] = []
    scrub = Scrub(tmp_path / "bundles", tmp_path / "lock", FAST_MB_PER_S, found.append)
    wait_for(lambda: scrub.verified == 10)
    scrub.close()
    assert found == [paths[25]]


@pytest.mark.parametrize("mb_per_s", [0, FAST_MB_PER_S])
def test_it_is_off_with_no_speed(tmp_path: Path, mb_per_s: int) -> None:
    (tmp_path / "bundles").mkdir()
    store(tmp_path / "bundles", b"a bundle")
    scrub = Scrub(tmp_path / "bundles", tmp_path / "lock", mb_per_s, lambda _: None)
    if mb_per_s:
        wait_for(lambda: scrub.verified == 1)
    else:
        time.sleep(0.5)
    scrub.close()
    assert scrub.verified == (1 if mb_per_s else 0)
