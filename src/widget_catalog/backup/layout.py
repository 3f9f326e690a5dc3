"""The file format of backups.

    snapshots/000042-2026-11-15T16-12-00Z/catalog.db      a consistent copy of the database
                                          manifest.json   its metadata
                                          SHA256SUMS      the hash of each of its files
    bundles/ab/cdef….js                                   shared by all snapshots

A `.tar.zst` file contains the same tree, with one snapshot.
`sha256sum -c`, run at the top of the tree, verifies the list of hashes.
"""

import contextlib
import hashlib
import io
import os
import re
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

import msgspec
import zstandard

from ..core.data_folder import sync
from ..core.errors import InvalidBackup
from ..core.files.contract import KINDS

FORMAT = 1
ARCHIVE_SUFFIX = ".tar.zst"

SNAPSHOTS, BUNDLES = "snapshots", "bundles"
DATABASE, MANIFEST, SUMS = "catalog.db", "manifest.json", "SHA256SUMS"
# Prefix of the names of incomplete files and folders.
PARTIAL = ".partial-"
# In the data folder: when its last backup was complete.
LAST_BACKUP = Path("run", "last-backup")

_SNAPSHOT = re.compile(r"(\d{6,})-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ")
_SUM = re.compile(r"([0-9a-f]{64})  (\S+)")
_CHUNK_BYTES = 1 << 20
_MODE = 0o600
_BUNDLE = re.compile(r"bundles/([0-9a-f]{2})/([0-9a-f]{62})\.(" + "|".join(KINDS) + ")")


class BackupManifest(msgspec.Struct, rename="camel", kw_only=True, forbid_unknown_fields=True):
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


class _AnyFormat(msgspec.Struct):
    format: int


def decode_manifest(content: bytes) -> BackupManifest:
    try:
        found = msgspec.json.decode(content, type=_AnyFormat).format
        if found != FORMAT:
            raise InvalidBackup(
                [f"This backup has format {found}, not {FORMAT}. Use the release that made it."]
            )
        return msgspec.json.decode(content, type=BackupManifest)
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


def bundle_hash(path: str) -> str | None:
    """The hash that a bundle is named by; None if the path is not one of a bundle."""
    found = _BUNDLE.fullmatch(path)
    return None if found is None else found[1] + found[2]


def is_database(path: str) -> bool:
    return path.endswith(f"/{DATABASE}")


def encode_sums(sums: Mapping[str, str]) -> bytes:
    return "".join(f"{sums[path]}  {path}\n" for path in sorted(sums)).encode()


def decode_sums(content: bytes) -> dict[str, str]:
    """The hash of every file, by its path. Any deviation from the format is damage."""
    sums: dict[str, str] = {}
    for number, line in enumerate(content.decode(errors="replace").split("\n")[:-1], 1):
        found = _SUM.fullmatch(line)
        # Bundles are named by their hash.
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
    """Durable when this returns."""
    path.write_bytes(content)
    sync(path)


class ArchiveWriter:
    """Adds files to an archive, without metadata of this machine."""

    def __init__(self, archive: tarfile.TarFile, at_s: int) -> None:
        self._archive = archive
        self._at_s = at_s

    def add(self, path: str, content: bytes) -> None:
        self._add_stream(path, io.BytesIO(content), len(content))

    def add_file(self, path: str, file: Path) -> None:
        with file.open("rb") as content:
            self._add_stream(path, content, file.stat().st_size)

    def _add_stream(self, path: str, content: IO[bytes], size_bytes: int) -> None:
        member = tarfile.TarInfo(path)
        member.size, member.mtime, member.mode = size_bytes, self._at_s, _MODE
        self._archive.addfile(member, content)


@contextlib.contextmanager
def writing_archive(file: IO[bytes], at_s: int) -> Iterator[ArchiveWriter]:
    compressor = zstandard.ZstdCompressor(level=3, write_checksum=True)
    with (
        compressor.stream_writer(file, closefd=False) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as archive,
    ):
        yield ArchiveWriter(archive, at_s)


@contextlib.contextmanager
def reading_archive(file: IO[bytes], name: str) -> Iterator[Iterator[tuple[str, IO[bytes]]]]:
    """Every file of an archive with its path, to be read before the next one is requested. Raises
    InvalidBackup if it is damaged; `SHA256SUMS` tells what is missing.
    """
    try:
        with (
            zstandard.ZstdDecompressor().stream_reader(file, closefd=False) as unpacked,
            tarfile.open(fileobj=unpacked, mode="r|") as archive,
        ):
            yield ((it.name, _content(archive, it, name)) for it in archive)
            # The padding and the frame's checksum are after the last file.
            while unpacked.read(_CHUNK_BYTES):
                pass
    except (tarfile.TarError, zstandard.ZstdError) as error:
        raise InvalidBackup([f"{name} is damaged, or is not a backup ({error})."]) from None


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo, name: str) -> IO[bytes]:
    content = archive.extractfile(member) if member.isreg() else None
    if content is None:
        raise InvalidBackup([f"{name} is not a backup: {member.name} is not a file."])
    return content
