"""Files of a widget's folder, as they are read."""

import errno
import hashlib
import os
import stat
from pathlib import Path

import msgspec


class SourceFile(msgspec.Struct, frozen=True):
    """A file that will be published."""

    path: Path
    content: bytes

    @property
    def size_bytes(self) -> int:
        return len(self.content)

    @property
    def sha256_hash(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


def read_file(path: Path, max_bytes: int) -> tuple[int, bytes]:
    """The size of a file, and its content unless it exceeds `max_bytes`.

    Raises OSError if it is not a regular file: reading a pipe might block forever.
    """
    with open(path, "rb", opener=_open_at_once) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        content = file.read(found.st_size) if found.st_size <= max_bytes else b""
        return found.st_size, content


def _open_at_once(path: str, flags: int) -> int:
    """Open without blocking, in case it is a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def leads_out(folder: Path, path: Path) -> bool:
    """Whether a symbolic link points outside the folder."""
    return not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))
