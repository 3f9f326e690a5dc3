"""A short-lived lock between processes, with a timeout."""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from .. import clock
from .lock_holder import Holder, clear_record, find_holder, write_record

_POLL_S = 0.005


@contextlib.contextmanager
def file_lock(path: Path, timeout_s: float, program: str = "") -> Iterator[str | None]:
    """Yields None when the lock is held, or else its current holder."""
    # Opened for every use: a descriptor inherited by a forked process would keep the lock of a
    # dead holder.
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        if flock_within(descriptor, timeout_s):
            with contextlib.suppress(OSError):  # On a full disk, the kernel still knows the holder.
                write_record(descriptor, Holder(os.getpid(), program, clock.now_ms()))
            try:
                yield None
            finally:
                with contextlib.suppress(OSError):
                    clear_record(descriptor)
        else:
            holder = find_holder(path)
            who = "another process" if holder is None else f"process {holder.pid}"
            program = f" ({holder.program})" if holder is not None and holder.program else ""
            yield f"{who}{program} has locked {path.name}"
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
