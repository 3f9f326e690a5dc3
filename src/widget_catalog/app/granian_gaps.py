"""What Granian cannot do for us, and the private members by which we do it instead.

Nothing else uses members of Granian that are not documented. `tests/app/test_granian_gaps.py`
fails when one of these gaps is closed: then what makes up for it can go. pyproject.toml names the
versions that this was tried with.

1. It does not take open sockets (https://github.com/emmett-framework/granian/issues/786). We need
   one for each worker, which the parent keeps open while the worker is replaced.
2. It stops the former worker after a fixed time, whether or not its successor is ready
   (https://github.com/emmett-framework/granian/issues/921), and ends the service when a worker dies
   twice within seconds. So the loop that watches the workers is ours.
3. A worker cannot stop accepting connections while it serves those it has
   (https://github.com/emmett-framework/granian/issues/548).
4. The stream of an RSGI response has no backpressure: what a client does not read is queued without
   a limit (https://github.com/emmett-framework/granian/issues/885, closed for ASGI and WSGI). So
   `client_sockets.py` asks the kernel how much it has accepted.
"""

import contextlib
import os
import socket
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from granian import Granian
from granian._granian import SocketHolder


class WorkerProcess(Protocol):
    """A worker as Granian's parent process sees it. `birth` is of the monotonic clock."""

    idx: int
    birth: float
    interrupt_by_parent: bool
    """Whether its end is intended."""

    def start(self) -> None: ...
    def is_alive(self) -> bool: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...
    def join(self, timeout: float | None = None) -> None: ...


Loader = Callable[..., Any]
Start = Callable[[int, Loader], WorkerProcess]


class SupervisedGranian(Granian):  # type: ignore[misc,valid-type]
    """Granian whose sockets and workers are managed by a subclass."""

    def open_sockets(self) -> None:
        """Before the first worker is started."""
        raise NotImplementedError

    def close_sockets(self) -> None:
        raise NotImplementedError

    def socket_of(self, index: int) -> socket.socket:
        """On which this worker accepts connections."""
        raise NotImplementedError

    def load(self, index: int, load: Loader) -> Any:
        """The application of this worker, loaded in its process."""
        raise NotImplementedError

    def watch(self, worker: WorkerProcess, note_end: Callable[[], None]) -> None:
        """In a thread: wait until this worker has ended, and call `note_end`, unless its end is of
        no interest.
        """
        raise NotImplementedError

    def supervise(self, spawn: Start, load: Loader) -> None:
        """The loop of the parent, until it is to stop. `spawn` makes a worker, to be started."""
        raise NotImplementedError

    def stop_workers(self) -> None:
        """All of them, with a limited time for requests in flight."""
        super()._stop_workers()

    # What Granian calls

    def _init_shared_socket(self) -> None:
        self._ssp = None
        self.open_sockets()

    def _drop_shared_socket(self) -> None:
        self.close_sockets()

    def _spawn_worker(self, idx: int, target: Any, callback_loader: Loader) -> Any:
        self._sso = self.socket_of(idx)
        self._shd = SocketHolder(self._sso.fileno(), False, self.backlog)  # type: ignore[call-arg]
        worker = super()._spawn_worker(idx, target, partial(self.load, idx, callback_loader))
        worker._watcher = partial(self.watch, worker, worker._watcher)  # noqa: SLF001
        return worker

    def _serve_loop(self, spawn_target: Any, target_loader: Loader) -> None:
        self.supervise(lambda idx, load: self._spawn_worker(idx, spawn_target, load), target_loader)

    def _stop_workers(self) -> None:
        self.stop_workers()


def pid_of(worker: Any) -> int:
    return int(worker.inner.pid)


def wait_for_end(worker: Any) -> int | None:
    """The exit code of a worker."""
    worker.inner.join()
    return exit_code_of(worker)


def exit_code_of(worker: Any) -> int | None:
    """None while it runs."""
    code: int | None = worker.inner.exitcode
    return code


def stop_accepting(listening: os.stat_result) -> None:
    """Leave queued connections to the other process that has this socket.

    Granian's copy of the descriptor is out of reach: so all copies in this process are replaced by
    a socket that nobody connects to. They are found by what they refer to, because a descriptor
    closed by Granian may have been reused.
    """
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind("")  # An abstract socket: a name in the kernel's namespace, not in a folder.
        silent.listen()
        silent.setblocking(False)
        for name in os.listdir("/proc/self/fd"):  # noqa: PTH208
            with contextlib.suppress(OSError):
                if os.path.samestat(os.fstat(int(name)), listening):
                    os.dup2(silent.fileno(), int(name))
