"""Reads a snapshot: verifies its signature, and every file in it, in one pass.

Every error names the file in the archive. Nothing is unpacked, so there is no path traversal.
"""

import contextlib
import io
import os
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn, cast

import msgspec

from ..core.errors import InvalidSnapshot
from ..core.files.verified import hash_stream
from . import layout
from .keys import VerifyingKey
from .layout import Header, padding_after

_CHUNK_BYTES = 1 << 20
_UNDECODABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class Part(NamedTuple):
    """A file in the snapshot, and the offset of its bytes."""

    path: str
    start: int
    size_bytes: int

    @property
    def stop(self) -> int:
        return self.start + self.size_bytes

    @property
    def end(self) -> int:
        """After its padding: the position of the next file's header."""
        return self.stop + padding_after(self.size_bytes)


class Snapshot:
    """An open snapshot. Its signature and list of hashes are verified; `verify` checks the rest."""

    def __init__(self, path: Path, file: "_File", header: Header, sums: Part) -> None:
        self.header = header
        self.path = path
        self._file = file
        self._sums = sums

    def verify(self, progress: Callable[[int], None] = lambda _files: None) -> None:
        """Raises InvalidSnapshot with all errors.

        After a modified header the position of the next file is unknown: that ends the check.
        """
        errors = []
        try:
            for part, sha256_hash in self.parts():
                if self._file.hash(part) != sha256_hash:
                    errors.append(
                        f"{part.path} was changed: it does not have the hash it must have."
                    )
                if not self._file.is_padded(part):
                    errors.append(f"The padding after {part.path} was changed.")
                progress(1)
        except InvalidSnapshot as error:
            errors += error.errors
        if errors:
            raise InvalidSnapshot(errors)

    def parts(self) -> Iterator[tuple[Part, str]]:
        """Every file after SHA256SUMS with its expected hash, in that order."""
        at = self._sums.end
        for it in self._sums_lines():
            part = self._file.part_at(at, it.path)
            yield part, it.sha256_hash
            at = part.end
        zeros = layout.end_of(at)
        if not self._file.is_zero(at, zeros):
            _refuse("The end of the file was changed, or is cut off.")
        if self._file.size_bytes != at + zeros:
            _refuse("Something was added to the end of the file.")

    def open(self, part: Part) -> BinaryIO:
        return self._file.open(part)

    def catalog(self) -> Iterator[bytes]:
        """The lines of the widgets."""
        with self.open(self._file.part_at(self._sums.end, layout.CATALOG)) as lines:
            yield from lines

    def _sums_lines(self) -> Iterator[layout.Sum]:
        """The catalog first, then bundles and style sheets, none twice."""
        last: str | None = None
        with self.open(self._sums) as lines:
            while line := lines.readline(layout.LONGEST_SUMS_LINE):
                found = layout.parse_sums_line(line)
                if found is None or (found.path == layout.CATALOG) != (last is None):
                    _refuse(f"{layout.SUMS} names what does not belong into a snapshot.")
                if last is not None and last != layout.CATALOG and found.path <= last:
                    _refuse(f"{layout.SUMS} is not in order.")
                yield found
                last = found.path
        if last is None:
            _refuse(f"{layout.SUMS} is empty.")


@contextlib.contextmanager
def open_snapshot(path: Path, key: VerifyingKey | None) -> Iterator[Snapshot]:
    """Verify the signature or, without a key, that there is none; and the list of hashes.

    Raises InvalidSnapshot.
    """
    if path.exists() and not path.is_file():
        raise InvalidSnapshot([f"{path} is not a file."])
    with _opened(path) as file:
        header, at = _checked_header(file, key)
        sums = file.part_at(at, layout.SUMS)
        if file.hash(sums) != header.sums_sha256:
            _refuse(
                f"{layout.SUMS} was changed: it does not have the hash that {layout.HEADER} says."
            )
        file.check_padding(sums)
        yield Snapshot(path, file, header, sums)


def read_header(path: Path) -> Header:
    """The header of a snapshot; its signature is not verified. Raises InvalidSnapshot."""
    with _opened(path) as file:
        return _decoded(file.read_whole(file.part_at(0, layout.HEADER, layout.MAX_HEADER_BYTES)))


@contextlib.contextmanager
def _opened(path: Path) -> Iterator["_File"]:
    try:
        opened = path.open("rb")
    except OSError as error:
        raise InvalidSnapshot([f"{path} cannot be read: {error.strerror}."]) from None
    with opened:
        yield _File(opened.fileno())


def _checked_header(file: "_File", key: VerifyingKey | None) -> tuple[Header, int]:
    """Also returns the position after header and signature."""
    first = file.part_at(0, layout.HEADER, layout.MAX_HEADER_BYTES)
    content = file.read_whole(first)
    if file.name_at(first.end) == layout.SIGNATURE:
        part = file.part_at(first.end, layout.SIGNATURE, layout.SIGNATURE_BYTES)
        _check_signature(content, file.read_whole(part), key)
        return _decoded(content), part.end
    header = _decoded(content)
    if header.key is not None:
        _refuse(f"{layout.SIGNATURE} is missing: the signature was removed.")
    if key is not None:
        _refuse("It is not signed, so nobody can say who made it.")
    return header, first.end


def _check_signature(content: bytes, signature: bytes, key: VerifyingKey | None) -> None:
    if key is None:
        _refuse("It is signed: give the public key with --key.")
    if key.has_signed(content, signature):
        return
    with contextlib.suppress(*_UNDECODABLE):
        signer = layout.decode_header(content).key
        if signer is not None and signer != key.fingerprint:
            _refuse(
                f"It is signed with another key: {layout.HEADER} names {signer[:64]}, and the one "
                f"that was given is {key.fingerprint}."
            )
    _refuse(f"The signature does not fit: {layout.HEADER} or {layout.SIGNATURE} was changed.")


def _decoded(content: bytes) -> Header:
    try:
        if layout.decode_format(content).format > layout.FORMAT:
            _refuse("It was made by a newer release. Update widget-catalog to read it.")
        return layout.decode_header(content)
    except _UNDECODABLE:
        _refuse(f"{layout.HEADER} was changed, or is not that of a snapshot.")


def _refuse(sentence: str) -> NoReturn:
    raise InvalidSnapshot([sentence])


class _File:
    """Reads at given positions, so that several readers do not affect each other."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.size_bytes = os.fstat(descriptor).st_size

    def name_at(self, at: int) -> str | None:
        member = _member(self._read(at, layout.BLOCK_BYTES))
        return None if member is None else member.name

    def part_at(self, at: int, path: str, max_bytes: int | None = None) -> Part:
        """The file whose header is at this position; the header must be exactly as we would write
        it.
        """
        block = self._read(at, layout.BLOCK_BYTES)
        no_snapshot = "It is not a snapshot, or is damaged. " if at == 0 else ""
        if len(block) < layout.BLOCK_BYTES:
            _refuse(f"{no_snapshot}It is cut off: {path} is missing.")
        member = _member(block)
        if member is None or block != layout.tar_header(path, member.size):
            _refuse(f"{no_snapshot}The header of {path} was changed.")
        part = Part(path, at + layout.BLOCK_BYTES, member.size)
        if max_bytes is not None and part.size_bytes > max_bytes:
            _refuse(f"The header of {path} was changed: the file would be too large.")
        missing = part.stop - self.size_bytes
        if missing > 0:
            _refuse(f"It is cut off: the last {missing:,} bytes of {path} are missing.")
        return part

    def read_whole(self, part: Part) -> bytes:
        """For a small file."""
        self.check_padding(part)
        return self._read(part.start, part.size_bytes)

    def check_padding(self, part: Part) -> None:
        if not self.is_padded(part):
            _refuse(f"The padding after {part.path} was changed.")

    def is_padded(self, part: Part) -> bool:
        return self.is_zero(part.stop, part.end - part.stop)

    def is_zero(self, at: int, size_bytes: int) -> bool:
        return self._read(at, size_bytes) == bytes(size_bytes)

    def hash(self, part: Part) -> str:
        with self.open(part) as content:
            return hash_stream(content).sha256_hash

    def open(self, part: Part) -> BinaryIO:
        section = io.BufferedReader(_Section(self._descriptor, part), _CHUNK_BYTES)
        return cast(BinaryIO, section)

    def _read(self, at: int, size_bytes: int) -> bytes:
        """Fewer bytes only at the end of the file."""
        with self.open(Part("", at, size_bytes)) as content:
            return content.read()


def _member(block: bytes) -> tarfile.TarInfo | None:
    try:
        member = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except (tarfile.TarError, ValueError):
        return None
    return member if member.size >= 0 else None


class _Section(io.RawIOBase):
    """A file in the snapshot as a seekable stream."""

    def __init__(self, descriptor: int, part: Part) -> None:
        self._descriptor = descriptor
        self._part = part
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        origin = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._part.size_bytes}
        self._at = origin[whence] + offset
        return self._at

    def readinto(self, buffer: Any) -> int:
        wanted = min(len(buffer), max(0, self._part.size_bytes - self._at))
        found = os.pread(self._descriptor, wanted, self._part.start + self._at)
        buffer[: len(found)] = found
        self._at += len(found)
        return len(found)
