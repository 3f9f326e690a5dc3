"""The file format of backups.

    snapshots/000042-2026-11-15T16-12-00Z/catalog.db      a consistent copy of the database
                                          manifest.json   its metadata
                                          SHA256SUMS      the hash of each of its files
    bundles/ab/cdef….js                                   shared by all snapshots
    replica/abcdef….mdb.zst                               a read model, if there are many widgets:
    replica/abcdef….index.zst                             shared by matching snapshots

A `.tar.zst` file contains the same tree, with one snapshot. `sha256sum -c`, run at the top of the
tree, verifies the list of hashes.
"""

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from ..core.errors import InvalidBackup

# Older releases can restore a backup without a read model.
FORMAT, FORMAT_WITH_REPLICA = 1, 2
ARCHIVE_SUFFIX = ".tar.zst"

SNAPSHOTS, BUNDLES, REPLICA = "snapshots", "bundles", "replica"
DATABASE, MANIFEST, SUMS = "catalog.db", "manifest.json", "SHA256SUMS"
# Prefix of the names of incomplete files and folders.
PARTIAL = ".partial-"

_SNAPSHOT = re.compile(r"(\d{6,})-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ")
_SUM = re.compile(r"([0-9a-f]{64})  (\S+)")
_BUNDLE = re.compile(r"bundles/([0-9a-f]{2})/([0-9a-f]{62})\.(js|css)")
_PACKED = re.compile(r"replica/([0-9a-f]{64})\.(mdb|index)\.zst")

PackedKind = Literal["mdb", "index"]


class ReplicaManifest(msgspec.Struct, rename="camel", kw_only=True, forbid_unknown_fields=True):
    """A read model that belongs to a snapshot, of its instant or an earlier one: derived data.

    `applied` is the last change of the feed that it is known to contain.
    """

    file: str
    id: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{1,64}\Z")]
    format: int
    applied: tuple[int, int, str, int] | None
    index_file: str | None
    index_seq: int | None

    @property
    def files(self) -> list[str]:
        return [self.file] if self.index_file is None else [self.file, self.index_file]

    @property
    def seq(self) -> int:
        return 0 if self.applied is None else self.applied[0]


class Manifest(msgspec.Struct, rename="camel", kw_only=True, forbid_unknown_fields=True):
    """Metadata of a snapshot: when and by which release it was made, and how much is in it."""

    format: int
    release: str
    schema: str
    made_at: str
    rows: dict[str, int]
    database_bytes: int
    bundles: int
    bundle_bytes: int
    # Files that versions refer to, but that were missing or damaged when the backup was made.
    missing: list[str]
    replica: ReplicaManifest | msgspec.UnsetType = msgspec.UNSET


class _AnyFormat(msgspec.Struct):
    format: int


def decode_manifest(content: bytes) -> Manifest:
    try:
        found = msgspec.json.decode(content, type=_AnyFormat).format
        if found > FORMAT_WITH_REPLICA:
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
    """The snapshots of a backup folder, oldest first. Incomplete ones have other names."""
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


def packed_path(sha256_hash: str, kind: PackedKind) -> str:
    return f"{REPLICA}/{sha256_hash}.{kind}.zst"


def packed_kind(path: str) -> PackedKind | None:
    """Which part of a read model this is; None if the path is not one of such a file."""
    found = _PACKED.fullmatch(path)
    return None if found is None else "mdb" if found[2] == "mdb" else "index"


def hash_in_name(path: str) -> str:
    """The hash of a file that snapshots share; empty for other files."""
    found = _PACKED.fullmatch(path)
    return bundle_hash(path) or "" if found is None else found[1]


def encode_sums(sums: Mapping[str, str]) -> bytes:
    return "".join(f"{sums[path]}  {path}\n" for path in sorted(sums)).encode()


def decode_sums(content: bytes) -> dict[str, str]:
    """The hash of every file, by its path. Any deviation from the format is damage."""
    sums: dict[str, str] = {}
    for number, line in enumerate(content.decode(errors="replace").split("\n")[:-1], 1):
        found = _SUM.fullmatch(line)
        # Files shared by snapshots are named by their hash.
        if found is None or hash_in_name(found[2]) not in ("", found[1]):
            raise InvalidBackup([f"{SUMS} is damaged in line {number}."])
        sums[found[2]] = found[1]
    if encode_sums(sums) != content:
        raise InvalidBackup([f"{SUMS} is damaged: it is cut off, or its lines are not in order."])
    return sums


def hash_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_file(path: Path, content: bytes) -> None:
    """Durable when this returns."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync(path: Path) -> None:
    """Fsync a file or folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
