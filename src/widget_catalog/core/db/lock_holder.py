"""Who holds a writer lock: as recorded by its holder, or as known to the kernel."""

import contextlib
import os
from pathlib import Path

import msgspec

from ..clock import from_ms, iso

_LOCKS = Path("/proc/locks")
# All records have the same length, so that they can be overwritten without truncating the file.
_RECORD_BYTES = 256
_SHOWN_CHARACTERS = 100
# An offset in the -shm file: https://www.sqlite.org/walformat.html#locks
_WRITER_BYTE = 120


class Holder(msgspec.Struct):
    """`program` and `since_ms` are unknown for other programs' processes."""

    pid: int
    program: str = ""
    since_ms: int | None = None

    @property
    def is_alive(self) -> bool:
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except OSError:  # It belongs to another user.
            return True
        return True

    def __str__(self) -> str:
        program = f" ({self.program})" if self.program else ""
        if self.since_ms is None:
            return f"process {self.pid}{program} holds the writer lock"
        since = iso(from_ms(self.since_ms))
        return f"process {self.pid}{program} has held the writer lock since {since}"


_decode = msgspec.json.Decoder(Holder).decode


def write_record(descriptor: int, holder: Holder) -> None:
    os.pwrite(descriptor, msgspec.json.encode(holder).ljust(_RECORD_BYTES), 0)


def clear_record(descriptor: int) -> None:
    os.pwrite(descriptor, b" ", 0)  # Without its opening brace, the record is invalid.


def describe_holder(lock_file: Path, database: Path | None = None) -> str:
    """Who holds the lock, as the start of a sentence. Call this only while it is held.

    The holder may itself wait for a program that has locked the SQLite file directly: then that
    program is named.
    """
    holder = find_holder(lock_file)
    locker = database and _find_locker(database)
    if locker and (holder is None or holder.pid != locker):
        return f"process {locker} ({_program(locker)}) has locked the database"
    return "another process holds the writer lock" if holder is None else str(holder)


def find_holder(lock_file: Path) -> Holder | None:
    recorded = _recorded(lock_file)
    pid = _pid_by_kernel(lock_file)
    if recorded is not None and pid in (None, recorded.pid):
        return recorded
    return Holder(pid, _program(pid)) if pid is not None else None


def _recorded(lock_file: Path) -> Holder | None:
    """The process that wrote the record, if it is alive: a killed holder cannot
    remove its record.
    """
    try:
        with lock_file.open("rb") as file:
            holder = _decode(file.read(_RECORD_BYTES))
    except (OSError, msgspec.DecodeError):
        return None
    return holder if holder.is_alive else None


def _pid_by_kernel(lock_file: Path) -> int | None:
    try:
        inode = str(lock_file.stat().st_ino)
        pid = _pid_in(_LOCKS.read_text(), inode)
    except OSError:
        return None
    if pid is None or Holder(pid).is_alive:
        return pid
    return _find_heir(inode)


def _pid_in(locks: str, inode: str) -> int | None:
    """`1: FLOCK ADVISORY WRITE 4711 fd:00:131 0 EOF`; lines of waiting processes have an arrow."""
    for line in locks.splitlines():
        match line.removeprefix("lock:").split():
            case [_, "FLOCK", _, _, pid, place, *_] if place.rpartition(":")[2] == inode:
                # A process of another container has no id here.
                return int(pid) if int(pid) > 0 else None
    return None


def _find_locker(database: Path) -> int | None:
    """The process that writes with SQLite's own lock: in WAL mode a byte of the -shm file."""
    try:
        inode = str(database.with_name(f"{database.name}-shm").stat().st_ino)
        locks = _LOCKS.read_text()
    except OSError:
        return None
    for line in locks.splitlines():
        match line.split():
            case [_, "POSIX", _, "WRITE", pid, place, first, last] if (
                place.rpartition(":")[2] == inode
                and int(first) <= _WRITER_BYTE
                and (last == "EOF" or int(last) >= _WRITER_BYTE)
            ):
                return int(pid) if int(pid) > 0 else None
    return None


def _find_heir(inode: str) -> int | None:
    """The process that inherited the lock from a process that has ended."""
    for process in Path("/proc").iterdir():
        if process.name.isdecimal() and _has_lock(process, inode):
            return int(process.name)
    return None


def _has_lock(process: Path, inode: str) -> bool:
    with contextlib.suppress(OSError):  # The process has just ended, or belongs to another user.
        for descriptor in (process / "fdinfo").iterdir():
            with contextlib.suppress(OSError):
                if _pid_in(descriptor.read_text(), inode) is not None:
                    return True
    return False


def _program(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return ""
    text = b" ".join(words).decode(errors="replace").strip()
    shown = "".join(it if it.isprintable() else " " for it in text)
    return shown if len(shown) <= _SHOWN_CHARACTERS else f"{shown[:_SHOWN_CHARACTERS]}…"
