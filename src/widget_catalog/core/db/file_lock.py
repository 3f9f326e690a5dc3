"""Locks between processes: `flock` on a file, with a timeout, and a record of its holder in the
file.
"""

import contextlib
import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from pathlib import Path
from typing import NamedTuple

import msgspec
import structlog

from .. import clock
from ..clock import from_ms, iso
from ..errors import WriterBusy
from ..tracing import part

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


_log = structlog.get_logger("widget_catalog.store")

_HINT_AFTER_S = 2.0

BUSY = (
    "The catalog cannot be changed just now: another process is writing to it. Nothing was "
    "changed; try again soon."
)


def busy_sentence(holder: str) -> str:
    """Why the catalog cannot be changed, for an operator, who may end the holder of the lock."""
    return f"The catalog cannot be changed: {holder}. Try again when it has ended, or end it."


class WaitPolicy(NamedTuple):
    """How long a writer waits for others, and how waiting is reported.

    `wait_s` None is for a background thread whose callers have their own timeout. In a service
    only the log names the holder; clients do not learn it.
    """

    wait_s: float | None
    is_service: bool = False
    on_wait: Callable[[str], None] | None = None


COMMAND = WaitPolicy(30)
SERVICE = WaitPolicy(5, is_service=True)
DEDICATED = WaitPolicy(None, is_service=True)


class WriterLock:
    """One writer at a time among all processes of a machine.

    The kernel queues waiting processes and releases the lock with its holder, but has no timeout,
    and polling would be unfair. So every request waits in the kernel with a thread of its own. One
    that times out leaves; its thread stays in the queue, and so knows how long the lock has been
    held: meanwhile further requests fail at once, so that there are never many threads.

    Must not be used on both sides of a fork: the waiting threads exist on one side only.
    """

    def __init__(self, path: Path, program: str = "", wait_policy: WaitPolicy = COMMAND) -> None:
        self._path = path
        self._wait_policy = wait_policy
        self._program = program
        self._mutex = threading.Lock()
        self._waiting = 0
        self._blocked_since: float | None = None
        self._is_reported = False

    @contextlib.contextmanager
    def held(self, *, waits: bool = True) -> Iterator[None]:
        """Raises WriterBusy if the lock is held too long, or at all without `waits`."""
        with part("lock"):
            descriptor = self._acquire(waits)
        try:
            yield
        finally:
            _release(descriptor)

    def blocked_s(self) -> float:
        """How long the lock has not been free, as far as known. Asks the kernel."""
        with self._mutex:
            if not self._waiting:
                with contextlib.suppress(BlockingIOError):
                    _release(self._lock(fcntl.LOCK_NB))
                    return 0.0
                self._queue().cancel()  # Its thread still finds out when the lock is free.
            blocked_s = self._blocked_for()
        if blocked_s >= (self._wait_policy.wait_s or 0):
            self._report()
        return blocked_s

    def describe_holder(self) -> str:
        return describe_holder(self._path)

    def _acquire(self, waits: bool) -> int:
        wait_s = self._wait_policy.wait_s
        if waits and wait_s is None:
            return self._lock()
        with self._mutex:
            if not self._waiting:
                with contextlib.suppress(BlockingIOError):
                    return self._lock(fcntl.LOCK_NB)
            # Fail at once if the lock has been held for the whole timeout already.
            turn = self._queue() if waits and self._blocked_for() < (wait_s or 0) else None
        if turn is None:
            raise self._busy(is_reported=waits)
        return self._wait(turn, wait_s or 0)

    def _lock(self, how: int = 0) -> int:
        # Opened for every use: a descriptor inherited by a forked process would keep the lock of a
        # dead holder.
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | how)
        except BaseException:
            os.close(descriptor)
            raise
        write_record(descriptor, self._program)
        return descriptor

    def _queue(self) -> Future[int]:
        """The lock, when a thread has got it. Called under the mutex."""
        turn: Future[int] = Future()
        threading.Thread(target=self._fetch, args=(turn,), name="writer-lock", daemon=True).start()
        self._waiting += 1
        self._blocked_since = self._blocked_since or time.monotonic()
        return turn

    def _fetch(self, turn: Future[int]) -> None:
        descriptor, problem = None, None
        try:
            descriptor = self._lock()
        except OSError as error:
            problem = error
        with self._mutex:
            self._waiting -= 1
            self._blocked_since = time.monotonic() if self._waiting else None
            was_reported = self._is_reported and descriptor is not None
            self._is_reported = self._is_reported and descriptor is None
        is_awaited = turn.set_running_or_notify_cancel()
        if descriptor is None:
            if is_awaited:
                turn.set_exception(problem)
        elif is_awaited:
            turn.set_result(descriptor)
        else:
            _release(descriptor)
        if was_reported:
            _log.info("The catalog can be changed again.")

    def _wait(self, turn: Future[int], wait_s: float) -> int:
        hint_s, on_wait = min(_HINT_AFTER_S, wait_s), self._wait_policy.on_wait
        try:
            wait([turn], hint_s)
            if not turn.done() and wait_s > hint_s and on_wait is not None:
                on_wait(f"Waiting, as {self.describe_holder()} …")
            return turn.result(wait_s - hint_s)
        except TimeoutError:
            if turn.cancel():
                raise self._busy() from None
            return turn.result()  # It was passed on at the same moment.
        except BaseException:  # Ctrl-C, or the file cannot be locked.
            if not turn.cancel() and turn.exception() is None:
                _release(turn.result())
            raise

    def _blocked_for(self) -> float:
        since = self._blocked_since
        return 0.0 if since is None else time.monotonic() - since

    def _busy(self, *, is_reported: bool = True) -> WriterBusy:
        if not self._wait_policy.is_service:
            return WriterBusy(busy_sentence(self.describe_holder()))
        if is_reported:
            self._report()
        return WriterBusy(BUSY)

    def _report(self) -> None:
        """Log once who holds the lock, and again when it is free."""
        with self._mutex:
            if self._is_reported or not self._waiting:
                return
            self._is_reported = True
        _log.error("The catalog cannot be changed.", reason=self.describe_holder())


def _release(descriptor: int) -> None:
    clear_record(descriptor)
    os.close(descriptor)
