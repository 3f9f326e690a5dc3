"""Reads a snapshot: verifies its signature, and every file in it, in one pass.

Every error names the file in the archive. Nothing is unpacked, so there is no path traversal.
"""

import contextlib
import hashlib
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, NoReturn

import msgspec

from ..core.errors import InvalidSnapshot
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

    def __init__(self, path: Path, file: BinaryIO, header: Header, sums: Part) -> None:
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
                if _hash(self._file, part) != sha256_hash:
                    errors.append(
                        f"{part.path} was changed: it does not have the hash it must have."
                    )
                if not _is_zero(self._file, part.stop, part.end):
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
            part = _part_at(self._file, at, it.path)
            yield part, it.sha256_hash
            at = part.end
        stop = at + layout.end_of(at)
        if not _is_zero(self._file, at, stop):
            _refuse("The end of the file was changed, or is cut off.")
        if _read(self._file, stop, 1):
            _refuse("Something was added to the end of the file.")

    def read(self, part: Part) -> bytes:
        return _read(self._file, part.start, part.size_bytes)

    def catalog(self) -> Iterator[bytes]:
        """The lines of the widgets."""
        return _lines(self._file, _part_at(self._file, self._sums.end, layout.CATALOG))

    def _sums_lines(self) -> Iterator[layout.Sum]:
        """The catalog first, then bundles and style sheets, none twice."""
        last: str | None = None
        for line in _lines(self._file, self._sums, layout.LONGEST_SUMS_LINE):
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
        sums = _part_at(file, at, layout.SUMS)
        if _hash(file, sums) != header.sums_sha256:
            _refuse(
                f"{layout.SUMS} was changed: it does not have the hash that {layout.HEADER} says."
            )
        _check_padding(file, sums)
        yield Snapshot(path, file, header, sums)


def read_header(path: Path) -> Header:
    """The header of a snapshot; its signature is not verified. Raises InvalidSnapshot."""
    with _opened(path) as file:
        return _decoded(_read_small(file, 0, layout.HEADER, layout.MAX_HEADER_BYTES)[0])


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise InvalidSnapshot([f"{path} cannot be read: {error.strerror}."]) from None


def _checked_header(file: BinaryIO, key: VerifyingKey | None) -> tuple[Header, int]:
    """Also returns the position after header and signature."""
    content, at = _read_small(file, 0, layout.HEADER, layout.MAX_HEADER_BYTES)
    member = _member(_read(file, at, layout.BLOCK_BYTES))
    if member is not None and member.name == layout.SIGNATURE:
        signature, at = _read_small(file, at, layout.SIGNATURE, layout.SIGNATURE_BYTES)
        _check_signature(content, signature, key)
        return _decoded(content), at
    header = _decoded(content)
    if header.key is not None:
        _refuse(f"{layout.SIGNATURE} is missing: the signature was removed.")
    if key is not None:
        _refuse("It is not signed, so nobody can say who made it.")
    return header, at


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


def _part_at(file: BinaryIO, at: int, path: str, max_bytes: int | None = None) -> Part:
    """The file whose header is at this position, which must be exactly as we would write it."""
    block = _read(file, at, layout.BLOCK_BYTES)
    no_snapshot = "It is not a snapshot, or is damaged. " if at == 0 else ""
    if len(block) < layout.BLOCK_BYTES:
        _refuse(f"{no_snapshot}It is cut off: {path} is missing.")
    member = _member(block)
    if member is None or block != layout.tar_header(path, member.size):
        _refuse(f"{no_snapshot}The header of {path} was changed.")
    if max_bytes is not None and member.size > max_bytes:
        _refuse(f"The header of {path} was changed: the file would be too large.")
    part = Part(path, at + layout.BLOCK_BYTES, member.size)
    missing = part.stop - file.seek(0, 2)
    if missing > 0:
        _refuse(f"It is cut off: the last {missing:,} bytes of {path} are missing.")
    return part


def _member(block: bytes) -> tarfile.TarInfo | None:
    try:
        member = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except (tarfile.TarError, ValueError):
        return None
    return member if member.size >= 0 else None


def _read_small(file: BinaryIO, at: int, path: str, max_bytes: int) -> tuple[bytes, int]:
    """A whole file, and the position after it."""
    part = _part_at(file, at, path, max_bytes)
    _check_padding(file, part)
    return _read(file, part.start, part.size_bytes), part.end


def _check_padding(file: BinaryIO, part: Part) -> None:
    if not _is_zero(file, part.stop, part.end):
        _refuse(f"The padding after {part.path} was changed.")


def _is_zero(file: BinaryIO, start: int, stop: int) -> bool:
    return _read(file, start, stop - start) == bytes(stop - start)


def _hash(file: BinaryIO, part: Part) -> str:
    digest = hashlib.sha256()
    for at in range(part.start, part.stop, _CHUNK_BYTES):
        digest.update(_read(file, at, min(_CHUNK_BYTES, part.stop - at)))
    return digest.hexdigest()


def _lines(file: BinaryIO, part: Part, most_bytes: int = -1) -> Iterator[bytes]:
    """Its lines; longer ones in pieces. The position in the file may be moved meanwhile."""
    at = part.start
    while at < part.stop:
        file.seek(at)
        left = part.stop - at
        line = file.readline(left if most_bytes < 0 else min(most_bytes, left))
        at += len(line)
        yield line


def _read(file: BinaryIO, at: int, size_bytes: int) -> bytes:
    """Fewer bytes only at the end of the file."""
    file.seek(at)
    return file.read(size_bytes)
