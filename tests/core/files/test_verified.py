"""Files are hashed when they are first used."""

import gzip
import hashlib
import os
from pathlib import Path

from widget_catalog.core.files.verified_files import (
    VerifiedFiles,
    remove_damaged,
    set_aside,
)


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
    for file in (path, form):
        rot(file)
        assert remove_damaged(file)
        assert not remove_damaged(file), "It is gone."
    assert list(path.parent.iterdir()) == []
