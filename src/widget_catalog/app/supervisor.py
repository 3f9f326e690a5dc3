"""Supervises the workers of a service: starts, replaces and stops them.

Granian runs one worker; this decides how many there are and when (`granian_gaps.py` says why).

The parent holds a listening socket for each worker, so no connection is refused or reset while a
worker is replaced: the new one accepts from the same queue.
"""

import contextlib
import os
import resource
import signal
import socket
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import structlog

from ..core.http.worker_status import WorkerStatus
from .client_sockets import configure
from .granian_gaps import (
    Loader,
    Start,
    SupervisedGranian,
    WorkerProcess,
    exit_code_of,
    pid_of,
    stop_accepting,
    wait_for_end,
)
from .io_thread import follow_load

_log = structlog.get_logger("widget_catalog.workers")

# Makes a worker respond with `Connection: close`, so that clients move to its successor.
DRAIN_SIGNAL = signal.SIGUSR1
# How long a client with an open connection has to send its next request to a draining worker.
_DRAIN_S = 2.0
_DRAIN_BEFORE_STOP_S = 0.2
_READY_TIMEOUT_S = 300
# A worker that ran this long did not die of the same cause as its predecessor.
_STABLE_S = 60
_BACKOFF_S = (0.0, 0.5, 1, 2, 4, 8, 16, 30)
# The service gives up after this many attempts without any worker becoming ready.
_START_ATTEMPTS = 3
_CONNECTIONS = 4096
# Descriptors that are not connections: the database, bundles, log, event loop.
_RESERVED_DESCRIPTORS = 128
_LOOK_EVERY_S = 5
# How long after a worker exited cleanly a signal to stop may arrive.
_CTRL_C_S = 1.0
_NEARLY_ALL = 7 / 8


def reserve(address: str, port: int) -> socket.socket:
    """A socket that shares its port with others of the same user. It refuses connections until it
    listens, so that a load balancer tries another node instead of waiting for a starting worker.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    made = socket.socket(family)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    made.bind((address, port))
    return made


def connection_limit() -> int:
    """How many connections a worker accepts, so that it never runs out of file descriptors.

    Each may need a second one, for a file that is sent or received. Further connections wait in
    the queue of the listening socket; without descriptors accepting them would fail repeatedly,
    and bundles could not be opened.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard == resource.RLIM_INFINITY:
        return _CONNECTIONS
    return max(1, min(_CONNECTIONS, (hard - _RESERVED_DESCRIPTORS) // 2))


class Supervisor(SupervisedGranian):
    """The rules for starting, replacing and stopping workers."""

    def __init__(
        self,
        passed_sockets: Sequence[socket.socket],
        status: WorkerStatus,
        renew_loader: Callable[[], Loader],
        *,
        drain_s: float = 0,
        **options: Any,
    ) -> None:
        """`renew_loader` returns the loader of a worker's application, or raises an error. After
        SIGTERM, the service goes on for `drain_s`, and its workers know that it is stopping.
        """
        super().__init__(**options)
        self._passed_sockets = passed_sockets
        self._listening: dict[int, socket.socket] = {}
        self._status = status
        self._renew_loader = renew_loader
        self._failures: dict[int, int] = {}
        self._due: dict[int, float] = {}
        self._was_ready = False
        self._is_start_failed = False
        self._is_crowded = False
        self._drain_s = drain_s
        self._stops_at: float | None = None
        self.reload_signal = False
        # Called once the first workers are forked: a fork copies locks that other threads hold.
        self.when_forked: Callable[[], None] = lambda: None

    # Sockets

    def open_sockets(self) -> None:
        for index in range(self.workers):
            self._open_socket(index)

    def _open_socket(self, index: int) -> None:
        if index in self._listening:
            return
        if self._passed_sockets:
            opened = self._passed_sockets[index % len(self._passed_sockets)]
        else:
            opened = reserve(self.bind_addr, self.bind_port)
        configure(opened)
        self._listening[index] = opened

    def close_sockets(self) -> None:
        for opened in self._listening.values():
            opened.close()
        self._listening.clear()

    # Starting

    def socket_of(self, index: int) -> socket.socket:
        return self._listening[index]

    def watch(self, worker: WorkerProcess, note_end: Callable[[], None]) -> None:
        """Ctrl-C reaches the workers, too: one may end before this process has handled it."""
        exit_code = wait_for_end(worker)
        until = time.monotonic() + _CTRL_C_S
        while exit_code == 0 and time.monotonic() < until:
            if self._stops_at is not None:
                # The workers received SIGTERM, too: there is nothing left to announce.
                super().signal_handler_interrupt()
            if self.interrupt_signal or worker.interrupt_by_parent:
                return
            time.sleep(0.02)
        note_end()

    def load(self, index: int, load: Loader) -> Any:
        own = self._listening[index]
        # An inherited descriptor would keep a socket open after the parent has closed it.
        for other in self._listening.values():
            if other is not own:
                other.close()
        follow_load()
        on_built = partial(own.listen, self.backlog)
        on_ready = partial(self._status.set_ready, index)
        on_drain = partial(stop_accepting, os.fstat(own.fileno()))
        return load(on_built=on_built, on_ready=on_ready, on_drain=on_drain, status=self._status)

    # Running

    def supervise(self, spawn: Start, load: Loader) -> None:
        self.when_forked()
        while not (self.interrupt_signal or self._is_start_failed):
            self.main_loop_interrupt.wait(self._wait_s())
            self.main_loop_interrupt.clear()
            if self._stops_at is not None and self._stops_at <= time.monotonic():
                super().signal_handler_interrupt()
                return
            self._note_deaths()
            for index in [it for it, at in self._due.items() if at <= time.monotonic()]:
                del self._due[index]
                self._open_socket(index)
                self.wrks[index] = spawn(index, load)
                self.wrks[index].start()
            self._warn_when_crowded()
            if self.reload_signal and not self._is_stopping:
                self.reload_signal = False
                load = self._replace_workers(spawn, load)

    def _wait_s(self) -> float:
        now = time.monotonic()
        due = [*self._due.values(), *([] if self._stops_at is None else [self._stops_at])]
        return max(0.0, min([_LOOK_EVERY_S, *(at - now for at in due)]))

    def _note_deaths(self) -> None:
        while self.interrupt_children:
            index = self.interrupt_children.pop()
            dead = self.wrks[index]
            now = time.monotonic()
            is_repeated = now - dead.birth < _STABLE_S
            failures = self._failures.get(index, 0) + 1 if is_repeated else 1
            self._failures[index] = failures
            self._was_ready = self._was_ready or self._status.is_any_ready
            self._status.set_dead(index, exit_code_of(dead))
            if failures >= _START_ATTEMPTS and not self._was_ready:
                _log.error("No worker could start. The service stops.", attempts=failures)
                self._is_start_failed = True
                return
            delay_s = _BACKOFF_S[min(failures, len(_BACKOFF_S)) - 1]
            self._due[index] = now + delay_s
            if delay_s and not self._passed_sockets:
                # New connections go to the other workers instead of waiting for this one.
                self._listening.pop(index).close()
            _log.error(
                "A worker died and is being restarted.",
                worker=index + 1,
                exit_code=exit_code_of(dead),
                in_seconds=delay_s,
            )

    def _warn_when_crowded(self) -> None:
        """Log once that a worker is near the limit, and once that it no longer is."""
        many = self.backpressure * _NEARLY_ALL
        is_crowded = any(_has_more_sockets(pid_of(it), many) for it in self.wrks)
        if is_crowded and not self._is_crowded:
            _log.warning(
                "A worker has reached its connection limit; new connections have to wait.",
                limit=self.backpressure,
            )
        self._is_crowded = is_crowded

    # Replacing workers without losing connections

    def _replace_workers(self, spawn: Start, load: Loader) -> Loader:
        """One by one, each when its successor is ready. Returns the loader of further workers."""
        try:
            renewed = self._renew_loader()
        except Exception as error:
            _log.error("The workers are not replaced: the settings are invalid.", errors=str(error))
            return load
        for index in range(self.workers):
            if index in self._due:
                continue
            former = self.wrks[index]
            successor = spawn(index, renewed)
            successor.interrupt_by_parent = True  # Its death does not count yet.
            successor.start()
            if not self._wait_until_ready(index, successor):
                successor.kill()
                successor.join()
                _log.error(
                    "A new worker did not start; the old workers keep running.", worker=index + 1
                )
                return load
            self.wrks[index] = successor
            successor.interrupt_by_parent = False
            if not successor.is_alive():
                self.interrupt_children.append(index)
                self.main_loop_interrupt.set()
            self._retire(former)
        _log.info("All workers were replaced.", workers=self.workers)
        return renewed

    def _wait_until_ready(self, index: int, worker: WorkerProcess) -> bool:
        deadline = time.monotonic() + _READY_TIMEOUT_S
        while worker.is_alive() and time.monotonic() < deadline and not self._is_stopping:
            if self._status.is_ready(index, pid_of(worker)):
                return True
            time.sleep(0.02)
        return False

    def _retire(self, worker: WorkerProcess) -> None:
        worker.interrupt_by_parent = True
        if _drain(worker):
            deadline = time.monotonic() + _DRAIN_S
            while time.monotonic() < deadline and not self.interrupt_signal:
                time.sleep(0.02)
        worker.terminate()
        worker.join(self.workers_kill_timeout)
        if worker.is_alive():
            worker.kill()
            worker.join()

    # Stopping

    @property
    def _is_stopping(self) -> bool:
        return bool(self.interrupt_signal) or self._stops_at is not None

    def signal_handler_interrupt(self, number: int, frame: Any) -> None:
        """SIGTERM announces the stop first, if there is somebody to notice. Ctrl-C, which ends the
        workers as well, and a second SIGTERM stop at once.
        """
        is_announced = number == signal.SIGTERM and self._drain_s and self._stops_at is None
        if is_announced and self._status.is_any_ready:
            self._stops_at = time.monotonic() + self._drain_s
            self._status.set_stopping()
            self.main_loop_interrupt.set()
        else:
            super().signal_handler_interrupt(number, frame)

    def stop_workers(self) -> None:
        for worker in self.wrks:  # Deaths no longer count: Ctrl-C ends some workers directly.
            worker.interrupt_by_parent = True
        ready = [it for it in self.wrks if self._status.is_ready(it.idx, pid_of(it))]
        are_draining = [_drain(worker) for worker in ready]
        if any(are_draining):
            time.sleep(_DRAIN_BEFORE_STOP_S)
        super().stop_workers()

    def shutdown(self, exit_code: int = 0) -> None:
        # Workers that die during the shutdown are no failure, but a service that never started is
        # one.
        self.interrupt_children.clear()
        super().shutdown(1 if self._is_start_failed else exit_code)


def _drain(worker: WorkerProcess) -> bool:
    """Signal a worker to drain. False: it has ended."""
    try:
        os.kill(pid_of(worker), DRAIN_SIGNAL)
    except ProcessLookupError:
        return False
    return True


def _has_more_sockets(pid: int, count: float) -> bool:
    """Whether a process has more sockets open than this."""
    folder = f"/proc/{pid}/fd"
    try:
        names = os.listdir(folder)  # noqa: PTH208  Twice as fast for thousands.
    except OSError:
        return False
    if len(names) <= count:
        return False
    sockets = 0
    for name in names:
        with contextlib.suppress(OSError):
            sockets += os.readlink(f"{folder}/{name}").startswith("socket:")  # noqa: PTH115
    return sockets > count
