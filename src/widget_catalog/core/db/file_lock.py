"""A short-lived lock between processes, with a timeout; and the record of a lock's holder."""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from .. import clock
from ..clock import from_ms, iso

_POLL_S = 0.005
# All records have the same length, so that they can be overwritten without truncating the file.
_RECORD_BYTES = 256


class Holder(msgspec.Struct):
    """The process that holds a lock, as recorded by itself in the locked file."""

    pid: int
    program: str
    since_ms: int

    @property
    def name(self) -> str:
        return f"process {self.pid}" + (f" ({self.program})" if self.program else "")

    def __str__(self) -> str:
        return f"{self.name} has held the writer lock since {iso(from_ms(self.since_ms))}"


_decode = msgspec.json.Decoder(Holder).decode


@contextlib.contextmanager
def file_lock(path: Path, timeout_s: float, program: str = "") -> Iterator[str | None]:
    """Yields None when the lock is held, or else its current holder."""
    # Opened for every use: a descriptor inherited by a forked process would keep the lock of a
    # dead holder.
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        if flock_within(descriptor, timeout_s):
            write_record(descriptor, program)
            try:
                yield None
            finally:
                clear_record(descriptor)
        else:
            holder = find_holder(path)
            who = "another process" if holder is None else holder.name
            yield f"{who} has locked {path.name}"
    finally:
        os.close(descriptor)


def flock_within(descriptor: int, timeout_s: float) -> bool:
    """Lock an open file, with a timeout; False: others still hold it."""
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_POLL_S)
        else:
            return True


def write_record(descriptor: int, program: str) -> None:
    """Record that this process holds the lock. On a full disk it stays unnamed."""
    holder = Holder(os.getpid(), program, clock.now_ms())
    with contextlib.suppress(OSError):
        os.pwrite(descriptor, msgspec.json.encode(holder).ljust(_RECORD_BYTES), 0)


def clear_record(descriptor: int) -> None:
    with contextlib.suppress(OSError):
        os.pwrite(descriptor, b" ", 0)  # Without its opening brace, the record is invalid.


def find_holder(lock_file: Path) -> Holder | None:
    """The process that wrote the record, if it is alive: a killed holder cannot remove its
    record. Call this only while the lock is held.
    """
    try:
        with lock_file.open("rb") as file:
            holder = _decode(file.read(_RECORD_BYTES))
    except (OSError, msgspec.DecodeError):
        return None
    try:
        os.kill(holder.pid, 0)
    except ProcessLookupError:
        return None
    except OSError:  # It belongs to another user.
        pass
    return holder


def describe_holder(lock_file: Path) -> str:
    """Who holds the writer lock, as the start of a sentence."""
    holder = find_holder(lock_file)
    return "another process holds the writer lock" if holder is None else str(holder)
