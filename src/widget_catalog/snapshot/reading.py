"""Reads a snapshot: verifies its signature, and every file in it, in one pass.

Every error names the file in the archive. Nothing is unpacked, so there is no path traversal.
"""

import contextlib
import hashlib
import io
import os
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn, cast

import msgspec

from ..core.errors import InvalidSnapshot
from .keys import VerifyingKey
from .layout import (
    BLOCK_BYTES,
    CATALOG,
    CHUNK_BYTES,
    FORMAT,
    HEADER,
    LONGEST_SUMS_LINE,
    MAX_HEADER_BYTES,
    SIGNATURE,
    SIGNATURE_BYTES,
    SUMS,
    Header,
    Sum,
    decode_format,
    decode_header,
    end_of,
    padding_after,
    parse_sums_line,
    tar_header,
)


class Part(NamedTuple):
    """A file in the snapshot, and the offset of its bytes."""

    path: str
    start: int
    size_bytes: int

    @property
    def stop(self) -> int:
        return self.start + self.size_bytes


class Snapshot:
    """An open snapshot. Its signature and list of hashes are verified; `verify` checks the rest."""

    def __init__(self, file: "_File", header: Header, sums: Part) -> None:
        self.header = header
        self.path = file.path
        self._file = file
        self._sums = sums

    def verify(self, progress: Callable[[int], None] = lambda _files: None) -> None:
        """Raises InvalidSnapshot with all errors.

        After a modified header the position of the next file is unknown: that ends the check.
        """
        faults = []
        try:
            for part, sha256_hash in self.parts():
                if self._file.hash(part) != sha256_hash:
                    faults.append(
                        f"{part.path} was changed: it does not have the hash it must have."
                    )
                if not self._file.is_zero(part.stop, padding_after(part.size_bytes)):
                    faults.append(f"The padding after {part.path} was changed.")
                progress(1)
        except InvalidSnapshot as fault:
            faults += fault.faults
        if faults:
            raise InvalidSnapshot(faults)

    def parts(self) -> Iterator[tuple[Part, str]]:
        """Every file after SHA256SUMS with its expected hash, in that order."""
        at = _after(self._sums)
        for it in self._sums_lines():
            part = self._file.part_at(at, it.path)
            yield part, it.sha256_hash
            at = _after(part)
        zeros = end_of(at)
        if not self._file.is_zero(at, zeros):
            self._file.refuse("The end of the file was changed, or is cut off.")
        if self._file.size_bytes != at + zeros:
            self._file.refuse("Something was added to the end of the file.")

    def open(self, part: Part) -> BinaryIO:
        return self._file.open(part)

    def catalog(self) -> Iterator[bytes]:
        """The lines of the widgets."""
        with self.open(self._file.part_at(_after(self._sums), CATALOG)) as lines:
            yield from lines

    def _sums_lines(self) -> Iterator[Sum]:
        """The catalog first, then bundles and style sheets, none twice."""
        last: str | None = None
        with self.open(self._sums) as lines:
            while line := lines.readline(LONGEST_SUMS_LINE):
                found = parse_sums_line(line)
                if found is None or (found.path == CATALOG) != (last is None):
                    self._file.refuse(f"{SUMS} names what does not belong into a snapshot.")
                if last is not None and last != CATALOG and found.path <= last:
                    self._file.refuse(f"{SUMS} is not in order.")
                yield found
                last = found.path
        if last is None:
            self._file.refuse(f"{SUMS} is empty.")


@contextlib.contextmanager
def open_snapshot(path: Path, key: VerifyingKey | None) -> Iterator[Snapshot]:
    """Verify the signature or, without a key, that there is none; and the list of hashes.

    Raises InvalidSnapshot.
    """
    if path.exists() and not path.is_file():
        raise InvalidSnapshot([f"{path} is not a file."])
    try:
        opened = path.open("rb")
    except OSError as error:
        raise InvalidSnapshot([f"{path} cannot be read: {error.strerror}."]) from None
    with opened:
        yield _checked(_File(path, opened.fileno()), key)


def read_header(path: Path) -> Header:
    """The header of a snapshot; its signature is not verified. Raises InvalidSnapshot."""
    try:
        with path.open("rb") as opened:
            file = _File(path, opened.fileno())
            return _header(file, file.read_whole(file.part_at(0, HEADER, MAX_HEADER_BYTES)))
    except OSError as error:
        raise InvalidSnapshot([f"{path} cannot be read: {error.strerror}."]) from None


def _checked(file: "_File", key: VerifyingKey | None) -> Snapshot:
    first = file.part_at(0, HEADER, MAX_HEADER_BYTES)
    content = file.read_whole(first)
    at = _after(first)
    is_signed = file.name_at(at) == SIGNATURE
    if is_signed:
        part = file.part_at(at, SIGNATURE, SIGNATURE_BYTES)
        _check_signature(file, content, file.read_whole(part), key)
        at = _after(part)
    header = _header(file, content)
    if not is_signed:
        _check_unsigned(file, header, key)
    sums = file.part_at(at, SUMS)
    if file.hash(sums) != header.sums_sha256:
        file.refuse(f"{SUMS} was changed: it does not have the hash that {HEADER} says.")
    if not file.is_zero(sums.stop, padding_after(sums.size_bytes)):
        file.refuse(f"The padding after {SUMS} was changed.")
    return Snapshot(file, header, sums)


def _check_signature(
    file: "_File", content: bytes, signature: bytes, key: VerifyingKey | None
) -> None:
    if key is None:
        file.refuse("It is signed: give the public key with --key.")
    if key.has_signed(content, signature):
        return
    with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        signer = decode_header(content).key
        if signer is not None and signer != key.fingerprint:
            file.refuse(
                f"It is signed with another key: {HEADER} names {signer[:64]}, and the one that "
                f"was given is {key.fingerprint}."
            )
    file.refuse(f"The signature does not fit: {HEADER} or {SIGNATURE} was changed.")


def _check_unsigned(file: "_File", header: Header, key: VerifyingKey | None) -> None:
    if header.key is not None:
        file.refuse(f"{SIGNATURE} is missing: the signature was removed.")
    if key is not None:
        file.refuse("It is not signed, so nobody can say who made it.")


def _header(file: "_File", content: bytes) -> Header:
    try:
        made = decode_format(content).format
        if made > FORMAT:
            file.refuse("It was made by a newer release. Update widget-catalog to read it.")
        return decode_header(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        file.refuse(f"{HEADER} was changed, or is not that of a snapshot.")


def _after(part: Part) -> int:
    """The position of the next file's header."""
    return part.stop + padding_after(part.size_bytes)


class _File:
    """Reads at given positions, so that several readers do not affect each other."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self.size_bytes = os.fstat(descriptor).st_size

    def name_at(self, at: int) -> str | None:
        member = _member(self._read(at, BLOCK_BYTES))
        return None if member is None else member.name

    def part_at(self, at: int, path: str, max_bytes: int | None = None) -> Part:
        """The file whose header is at this position; the header must be exactly as we would write
        it.
        """
        block = self._read(at, BLOCK_BYTES)
        if len(block) < BLOCK_BYTES:
            self._refuse_begin(at, f"It is cut off: {path} is missing.")
        member = _member(block)
        if member is None or block != tar_header(path, member.size):
            self._refuse_begin(at, f"The header of {path} was changed.")
        part = Part(path, at + BLOCK_BYTES, member.size)
        if max_bytes is not None and part.size_bytes > max_bytes:
            self.refuse(f"The header of {path} was changed: the file would be too large.")
        missing = part.stop - self.size_bytes
        if missing > 0:
            self.refuse(f"It is cut off: the last {missing:,} bytes of {path} are missing.")
        return part

    def read_whole(self, part: Part) -> bytes:
        """For a small file; its padding is checked immediately."""
        if not self.is_zero(part.stop, padding_after(part.size_bytes)):
            self.refuse(f"The padding after {part.path} was changed.")
        return self._read(part.start, part.size_bytes)

    def hash(self, part: Part) -> str:
        hashed = hashlib.sha256()
        for at in range(part.start, part.stop, CHUNK_BYTES):
            hashed.update(self._read(at, min(CHUNK_BYTES, part.stop - at)))
        return hashed.hexdigest()

    def is_zero(self, at: int, size_bytes: int) -> bool:
        return self._read(at, size_bytes) == bytes(size_bytes)

    def open(self, part: Part) -> BinaryIO:
        section = io.BufferedReader(_Section(self._descriptor, part), CHUNK_BYTES)
        return cast(BinaryIO, section)

    def refuse(self, sentence: str) -> NoReturn:
        raise InvalidSnapshot([sentence])

    def _refuse_begin(self, at: int, sentence: str) -> NoReturn:
        self.refuse(f"It is not a snapshot, or is damaged. {sentence}" if at == 0 else sentence)

    def _read(self, at: int, size_bytes: int) -> bytes:
        """Fewer bytes only at the end of the file."""
        found = b""
        while len(found) < size_bytes:
            some = os.pread(self._descriptor, size_bytes - len(found), at + len(found))
            if not some:
                break
            found += some
        return found


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
        self._at = part.start

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        origin = {
            os.SEEK_SET: self._part.start,
            os.SEEK_CUR: self._at,
            os.SEEK_END: self._part.stop,
        }
        self._at = origin[whence] + offset
        return self._at - self._part.start

    def readinto(self, buffer: Any) -> int:
        wanted = min(len(buffer), max(0, self._part.stop - self._at))
        found = os.pread(self._descriptor, wanted, self._at)
        buffer[: len(found)] = found
        self._at += len(found)
        return len(found)
