"""VerifiedFiles: which files on disk this process has hashed, so that damaged ones are not served.

A disk may return other bytes than were written, with the same size and time. So a file is hashed
when it is first used; later uses compare only inode, size and time with those of then.
"""

import contextlib
import os
import stat
from pathlib import Path

import structlog

from .compressed_forms import decodes_to, encoding_of
from .contract import MAX_ENCODED_BYTES, Encoding
from .hashing import hash_stream

_log = structlog.get_logger("widget_catalog.bundles")

_ASIDE = ".damaged"
# About 200 bytes each. If there are more, everything is forgotten.
_MOST_KNOWN = 50_000


class VerifiedFiles:
    """Of one process; used by several threads."""

    def __init__(self) -> None:
        # By inode and time, which is faster than by path: the right hash, and whether it has it.
        self._known: dict[tuple[int, int], tuple[str, bool]] = {}
        # The hashes that intact compressed forms decode to, by inode, time and size.
        self._encoded: dict[tuple[int, int, int], str] = {}

    def find(self, path: Path, sha256_hash: str, size_bytes: int) -> bool | None:
        """Whether the file is intact; None if `verify` has to find out. Costs a system call."""
        try:
            found = path.stat()
        except OSError:
            return False
        if found.st_size != size_bytes or not stat.S_ISREG(found.st_mode):
            return False
        known = self._known.get((found.st_ino, found.st_mtime_ns))
        return known[1] if known is not None and known[0] == sha256_hash else None

    def verify(self, path: Path, sha256_hash: str) -> bool:
        """Read the file, and remember the result."""
        try:
            with path.open("rb") as file:
                found = os.fstat(file.fileno())
                is_intact = hash_stream(file).sha256_hash == sha256_hash
        except OSError:
            return False
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[found.st_ino, found.st_mtime_ns] = sha256_hash, is_intact
        return is_intact

    def find_encoded(self, path: Path, sha256_hash: str) -> int | None:
        """The size of an intact compressed form, 0 of an empty one; None if there is none that
        `verify_encoded` has read. Costs a system call.
        """
        try:
            found = path.stat()
        except OSError:
            return None
        key = (found.st_ino, found.st_mtime_ns, found.st_size)
        is_intact = not found.st_size or self._encoded.get(key) == sha256_hash
        return found.st_size if is_intact else None

    def verify_encoded(
        self, path: Path, encoding: Encoding, sha256_hash: str, most_bytes: int
    ) -> int | None:
        """Read and decode it, and remember it if it is intact. Its size, or None."""
        try:
            with path.open("rb") as file:
                found = os.fstat(file.fileno())
                content = file.read() if found.st_size < most_bytes else b"too large"
        except OSError:
            return None
        if not decodes_to(content, encoding, sha256_hash, most_bytes):
            return None
        if len(self._encoded) >= _MOST_KNOWN:
            self._encoded.clear()
        self._encoded[found.st_ino, found.st_mtime_ns, found.st_size] = sha256_hash
        return found.st_size

    def verify_named(self, path: Path) -> bool:
        """Read a file or a compressed form whose name says which hash it has."""
        sha256_hash = path.parent.name + path.name.partition(".")[0]
        encoding = encoding_of(path)
        if encoding is None:
            return self.verify(path, sha256_hash)
        return self.verify_encoded(path, encoding, sha256_hash, MAX_ENCODED_BYTES) is not None


def remove_damaged(path: Path) -> bool:
    """Remove a file that can be had again. False if another process has removed or replaced it."""
    with contextlib.suppress(FileNotFoundError):
        read = path.stat()
        if not VerifiedFiles().verify_named(path):
            found = path.stat()
            if (found.st_ino, found.st_mtime_ns) == (read.st_ino, read.st_mtime_ns):
                path.unlink()
                return True
    return False


def set_aside(path: Path) -> bool:
    """Rename a damaged file, so that no process serves it. False if it is intact when it is read
    again: the error was not on disk.
    """
    if VerifiedFiles().verify_named(path):
        return False
    try:
        path.rename(path.with_name(f"{path.name}{_ASIDE}"))
    except OSError as error:
        _log.error("A damaged bundle cannot be set aside.", file=str(path), error=str(error))
    return True
