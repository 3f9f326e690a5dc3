"""A backup as one archive: tar, compressed with Zstandard, with a checksum over every byte."""

import contextlib
import hashlib
import io
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import zstandard

from ..core.errors import InvalidBackup

_CHUNK_BYTES = 1 << 20
# Everything decompressed from one read is in memory at once, and text may expand a hundredfold.
_PACKED_BYTES = 1 << 14
_MODE = 0o600
# The file ends with the hash of everything before it, in a skippable frame that other programs
# ignore. The hash is needed because a flipped bit in a frame does not always change its content.
_TRAILER = b"\x50\x2a\x4d\x18" + (32).to_bytes(4, "little")


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
    hashed = _HashedFile(file)
    sink: Any = hashed  # File-like enough for both libraries.
    with compressor.stream_writer(sink, closefd=False) as packed:
        written: Any = packed
        with tarfile.open(fileobj=written, mode="w|", format=tarfile.PAX_FORMAT) as archive:
            yield ArchiveWriter(archive, at_s)
    file.write(_TRAILER + hashed.digest())


class _HashedFile(io.RawIOBase):
    """Writes to a file and hashes the written bytes."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._hash = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        self._hash.update(content)
        return self._file.write(content)

    def digest(self) -> bytes:
        return self._hash.digest()


def read_archive(file: IO[bytes], name: str) -> Iterator[tuple[str, IO[bytes]]]:
    """Every file of an archive with its path, to be read before the next one is requested.

    Raises InvalidBackup if it is damaged or truncated, at the latest after the last file.
    """
    unpacked = io.BufferedReader(_Unpacked(file, name), _CHUNK_BYTES)
    try:
        with tarfile.open(fileobj=unpacked, mode="r|") as archive:
            for member in archive:
                content = archive.extractfile(member) if member.isreg() else None
                if content is None:
                    raise InvalidBackup([f"{name} is not a backup: {member.name} is not a file."])
                yield member.name, content
        # Read the padding and the frame checksum after the last file.
        while unpacked.read(_CHUNK_BYTES):
            pass
    except tarfile.TarError as error:
        raise _damaged(name, error) from None


class _Unpacked(io.RawIOBase):
    """The content of one Zstandard frame, which must be complete and the only one in the file."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file = file
        self._name = name
        self._frame = zstandard.ZstdDecompressor().decompressobj(write_size=_CHUNK_BYTES)
        self._ready = memoryview(b"")
        self._hash = hashlib.sha256()
        self._is_over = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._ready:
            try:
                self._ready = memoryview(self._unpack())
            except (zstandard.ZstdError, EOFError) as error:
                # Raised here because the archive's files are read through this method.
                raise _damaged(self._name, error) from None
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _unpack(self) -> bytes:
        """The next decompressed bytes; empty at the end."""
        unpacked = b""
        while not unpacked and not self._is_over:
            packed = self._file.read(_PACKED_BYTES)
            if not packed:
                raise EOFError("it is cut off")
            unpacked = self._frame.decompress(packed)
            rest = self._frame.unused_data
            self._hash.update(packed[: len(packed) - len(rest)])
            if self._frame.eof:
                self._is_over = True
                if rest + self._file.read() != _TRAILER + self._hash.digest():
                    raise EOFError("it does not end with its hash")
        return unpacked


def _damaged(name: str, error: Exception) -> InvalidBackup:
    return InvalidBackup([f"{name} is damaged, or is not a backup ({error})."])
