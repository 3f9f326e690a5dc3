"""What a backup holds, and how it is written down.

    snapshots/000042-2026-11-15T16-12-00Z/catalog.db      the database of one instant
                                          manifest.json   what it is, and how much
                                          SHA256SUMS      the hash of every file that belongs to it
    bundles/ab/cdef….js                                   shared by all snapshots

A file ending in `.tar.zst` holds the same tree, with one snapshot. `sha256sum -c` reads the list
of hashes, from the top of the tree.
"""

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from ...domain.errors import InvalidBackup

FORMAT = 1
ARCHIVE_SUFFIX = ".tar.zst"

SNAPSHOTS, BUNDLES = "snapshots", "bundles"
DATABASE, MANIFEST, SUMS = "catalog.db", "manifest.json", "SHA256SUMS"
# How the name of what is not complete begins.
PARTIAL = ".partial-"

_SNAPSHOT = re.compile(r"(\d{6,})-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ")
_SUM = re.compile(r"([0-9a-f]{64})  (\S+)")
_BUNDLE = re.compile(r"bundles/([0-9a-f]{2})/([0-9a-f]{62})\.(js|css)")


class Manifest(msgspec.Struct, rename="camel", kw_only=True, forbid_unknown_fields=True):
    """What a snapshot is: when and by what it was made, and how much is in it."""

    format: int
    release: str
    schema: str
    made_at: str
    rows: dict[str, int]
    database_bytes: int
    bundles: int
    bundle_bytes: int
    # Files that versions refer to and that were missing or damaged when the backup was made.
    missing: list[str]


class _AnyFormat(msgspec.Struct):
    format: int


def decode_manifest(content: bytes) -> Manifest:
    try:
        found = msgspec.json.decode(content, type=_AnyFormat).format
        if found > FORMAT:
            raise InvalidBackup(
                [f"This backup was made by a newer release (its format is {found}). Use that one."]
            )
        return msgspec.json.decode(content, type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidBackup([f"{MANIFEST} is damaged: {error}."]) from None


def snapshot_name(number: int, made_at: str) -> str:
    """Sorted by number: a clock that was set back does not make an old snapshot the newest."""
    return f"{number:06}-{made_at[:19].replace(':', '-')}Z"


def number_of(name: str) -> int | None:
    """The number of a snapshot; None if this is the name of something else."""
    found = _SNAPSHOT.fullmatch(name)
    return None if found is None else int(found[1])


def list_snapshots(folder: Path) -> list[str]:
    """The snapshots of a backup folder, oldest first. Half-written ones have other names."""
    try:
        names = [it.name for it in os.scandir(folder / SNAPSHOTS)]
    except FileNotFoundError:
        return []
    numbered = [(number, it) for it in names if (number := number_of(it)) is not None]
    return [it for _, it in sorted(numbered)]


def bundle_path(sha256_hash: str, kind: str) -> str:
    return f"{BUNDLES}/{sha256_hash[:2]}/{sha256_hash[2:]}.{kind}"


def bundle_hash(path: str) -> str | None:
    """The hash that a bundle is named by; None if the path is not one of a bundle."""
    found = _BUNDLE.fullmatch(path)
    return None if found is None else found[1] + found[2]


def encode_sums(sums: Mapping[str, str]) -> bytes:
    return "".join(f"{sums[path]}  {path}\n" for path in sorted(sums)).encode()


def decode_sums(content: bytes) -> dict[str, str]:
    """The hash of every file, by its path. Whatever is not written just so is damage."""
    sums: dict[str, str] = {}
    for number, line in enumerate(content.decode(errors="replace").split("\n")[:-1], 1):
        found = _SUM.fullmatch(line)
        # A bundle is named by its hash.
        if found is None or bundle_hash(found[2]) not in (None, found[1]):
            raise InvalidBackup([f"{SUMS} is damaged in line {number}."])
        sums[found[2]] = found[1]
    if encode_sums(sums) != content:
        raise InvalidBackup([f"{SUMS} is damaged: it is cut off, or its lines are not in order."])
    return sums


def hash_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_file(path: Path, content: bytes) -> None:
    """It is on disk when this returns."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync(path: Path) -> None:
    """Have a file, or the names in a folder, on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
