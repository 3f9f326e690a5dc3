"""WriterLock: one writer at a time among all processes of a machine, with a timeout.

It is an exclusive `flock` on a file. The kernel queues waiting processes and releases the lock
with its holder, but has no timeout, and polling would be unfair. So a thread waits in the kernel
on behalf of this process, and passes the lock to the request that has waited longest. Requests
that time out leave; the thread stays in the queue, and so knows how long the lock has been held.
"""

import contextlib
import fcntl
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import structlog

from ..errors import WriterBusy
from .file_lock import clear_record, describe_holder, write_record

_log = structlog.get_logger("widget_catalog.store")

_HINT_AFTER_S = 2.0

BUSY = (
    "The catalog cannot be changed just now: another process is writing to it. Nothing was "
    "changed; try again soon."
)


def busy_sentence(holder: str) -> str:
    """The same for an operator."""
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


class _Waiter:
    __slots__ = ("descriptor", "fault", "turn")

    def __init__(self) -> None:
        self.turn = threading.Lock()
        self.turn.acquire()
        self.descriptor: int | None = None
        self.fault: OSError | None = None


class WriterLock:
    """Must not be used on both sides of a fork: the waiting thread exists on one side only."""

    def __init__(self, path: Path, program: str = "", wait_policy: WaitPolicy = COMMAND) -> None:
        self._path = path
        self._wait_policy = wait_policy
        self._program = program
        self._mutex = threading.Lock()
        self._waiters: deque[_Waiter] = deque()
        self._is_fetching = False
        self._blocked_since: float | None = None
        self._is_reported = False

    @contextlib.contextmanager
    def held(self, *, waits: bool = True) -> Iterator[None]:
        """Raises WriterBusy if the lock is held too long, or at all without `waits`."""
        descriptor = self._acquire(waits)
        try:
            yield
        finally:
            _release(descriptor)

    def blocked_s(self) -> float:
        """How long the lock has not been free, as far as known. Asks the kernel."""
        with self._mutex:
            if not self._is_fetching:
                descriptor = self._try()
                if descriptor is not None:
                    _release(descriptor)
                    return 0.0
                self._start_fetching()
            blocked_s = self._blocked_for()
        if blocked_s >= (self._wait_policy.wait_s or 0):
            self._report()
        return blocked_s

    def describe_holder(self) -> str:
        return describe_holder(self._path)

    def _acquire(self, waits: bool) -> int:
        if waits and self._wait_policy.wait_s is None:
            return self._wait_in_kernel()
        with self._mutex:
            if not self._is_fetching:
                descriptor = self._try()
                if descriptor is not None:
                    return descriptor
            # Fail at once if the lock has been held for the whole timeout already.
            if not waits or self._blocked_for() >= (self._wait_policy.wait_s or 0):
                waiter = None
            else:
                waiter = _Waiter()
                self._waiters.append(waiter)
                self._start_fetching()
        if waiter is None:
            raise self._busy(is_reported=waits)
        return self._wait(waiter)

    def _open(self) -> int:
        # Opened for every use: a descriptor inherited by a forked process would keep the lock of a
        # dead holder.
        return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def _try(self) -> int | None:
        descriptor = self._open()
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except OSError:
            os.close(descriptor)
            raise
        write_record(descriptor, self._program)
        return descriptor

    def _wait_in_kernel(self) -> int:
        descriptor = self._open()
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except BaseException:
            os.close(descriptor)
            raise
        write_record(descriptor, self._program)
        return descriptor

    # Waiting with a timeout

    def _wait(self, waiter: _Waiter) -> int:
        wait_s = self._wait_policy.wait_s or 0
        on_wait = self._wait_policy.on_wait
        try:
            has_turn = waiter.turn.acquire(timeout=min(_HINT_AFTER_S, wait_s))
            if not has_turn and wait_s > _HINT_AFTER_S:
                if on_wait is not None:
                    on_wait(f"Waiting, as {self.describe_holder()} …")
                waiter.turn.acquire(timeout=wait_s - _HINT_AFTER_S)
        except BaseException:  # Ctrl-C.
            if (descriptor := self._leave(waiter)) is not None:
                _release(descriptor)
            raise
        descriptor = self._leave(waiter)
        if waiter.fault is not None:
            raise waiter.fault
        if descriptor is None:
            raise self._busy()
        return descriptor

    def _leave(self, waiter: _Waiter) -> int | None:
        """Stop waiting; returns the lock if it was just passed to this waiter."""
        with self._mutex:
            with contextlib.suppress(ValueError):
                self._waiters.remove(waiter)
            return waiter.descriptor

    def _start_fetching(self) -> None:
        if not self._is_fetching:
            self._is_fetching = True
            self._blocked_since = time.monotonic()
            threading.Thread(target=self._fetch, name="writer-lock", daemon=True).start()

    def _fetch(self) -> None:
        while True:
            try:
                descriptor = self._wait_in_kernel()
            except OSError as fault:
                self._fail_all(fault)
                return
            with self._mutex:
                self._blocked_since = None
                if self._waiters:
                    waiter = self._waiters.popleft()
                    waiter.descriptor = descriptor
                    waiter.turn.release()
                else:
                    _release(descriptor)
                was_reported, self._is_reported = self._is_reported, False
                goes_on = self._is_fetching = bool(self._waiters)
                if goes_on:
                    self._blocked_since = time.monotonic()
            if was_reported:
                _log.info("The catalog can be changed again.")
            if not goes_on:
                return

    def _fail_all(self, fault: OSError) -> None:
        with self._mutex:
            for waiter in self._waiters:
                waiter.fault = fault
                waiter.turn.release()
            self._waiters.clear()
            self._is_fetching = False
            self._blocked_since = None

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
            if self._is_reported or not self._is_fetching:
                return
            self._is_reported = True
        _log.error("The catalog cannot be changed.", reason=self.describe_holder())


def _release(descriptor: int) -> None:
    clear_record(descriptor)
    os.close(descriptor)
