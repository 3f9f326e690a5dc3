"""A backup as one file: tar, compressed with Zstandard, whose checksum covers every byte."""

import contextlib
import io
import tarfile
from collections.abc import Iterator
from typing import IO, Any

import zstandard

from ...domain.errors import InvalidBackup

_CHUNK_BYTES = 1 << 20
# All that is unpacked from so much is in memory at once: text can be a hundred times as much.
_PACKED_BYTES = 1 << 14
_MODE = 0o600
_WINDOW_LOG = 21
# How a file begins: what it is, that it has a checksum, and its window. The checksum does not
# cover this.
_HEADER = bytes([0x28, 0xB5, 0x2F, 0xFD, 0x04, (_WINDOW_LOG - 10) << 3])


class ArchiveWriter:
    """Adds files to an archive. Nothing of the machine that makes it gets in."""

    def __init__(self, archive: tarfile.TarFile, at_s: int) -> None:
        self._archive = archive
        self._at_s = at_s

    def add(self, path: str, content: bytes) -> None:
        self.add_stream(path, io.BytesIO(content), len(content))

    def add_stream(self, path: str, content: IO[bytes], size_bytes: int) -> None:
        member = tarfile.TarInfo(path)
        member.size, member.mtime, member.mode = size_bytes, self._at_s, _MODE
        self._archive.addfile(member, content)


@contextlib.contextmanager
def writing_archive(file: IO[bytes], at_s: int) -> Iterator[ArchiveWriter]:
    parameters = zstandard.ZstdCompressionParameters.from_level(
        3, window_log=_WINDOW_LOG, write_checksum=True, write_content_size=False
    )
    compressor = zstandard.ZstdCompressor(compression_params=parameters)
    with compressor.stream_writer(file, closefd=False) as packed:
        written: Any = packed  # It is a file in all that matters here.
        with tarfile.open(fileobj=written, mode="w|", format=tarfile.PAX_FORMAT) as archive:
            yield ArchiveWriter(archive, at_s)


def read_archive(file: IO[bytes], name: str) -> Iterator[tuple[str, IO[bytes]]]:
    """Every file of an archive with its path, to be read before the next one is asked for.

    Raises InvalidBackup where it is damaged or cut off, at the latest after the last file.
    """
    unpacked = io.BufferedReader(_Unpacked(file, name), _CHUNK_BYTES)
    try:
        with tarfile.open(fileobj=unpacked, mode="r|") as archive:
            for member in archive:
                content = archive.extractfile(member) if member.isreg() else None
                if content is None:
                    raise InvalidBackup([f"{name} is not a backup: {member.name} is not a file."])
                yield member.name, content
        # What follows the last file is padding, and the checksum of all.
        while unpacked.read(_CHUNK_BYTES):
            pass
    except tarfile.TarError as error:
        raise _damaged(name, error) from None


class _Unpacked(io.RawIOBase):
    """The content of one Zstandard frame, which must be whole and the only one in the file."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file = file
        self._name = name
        self._frame = zstandard.ZstdDecompressor().decompressobj(write_size=_CHUNK_BYTES)
        self._ready = memoryview(b"")
        self._header = _HEADER

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._ready:
            try:
                self._ready = memoryview(self._unpack())
            except (zstandard.ZstdError, EOFError) as error:
                # Here, since whoever reads a file of the archive reads from here.
                raise _damaged(self._name, error) from None
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _unpack(self) -> bytes:
        """Some more; nothing at the end."""
        unpacked = b""
        while not unpacked and not self._frame.eof:
            packed = self._file.read(_PACKED_BYTES)
            if not packed:
                raise EOFError("it is cut off")
            if not packed.startswith(self._header):
                raise EOFError("it begins with something else")
            self._header = b""
            unpacked = self._frame.decompress(packed)
        if self._frame.eof and (self._frame.unused_data or self._file.read(1)):
            raise EOFError("something follows its end")
        return unpacked


def _damaged(name: str, error: Exception) -> InvalidBackup:
    return InvalidBackup([f"{name} is damaged, or is not a backup ({error})."])
