"""Runs batches of work in other processes: `python -m` this module is such a process.

Arguments and results are plain values that are marshalled, because both sides run the same Python;
pickling takes twice as long.
"""

import contextlib
import gc
import marshal
import os
import pkgutil
import socket
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from itertools import islice
from queue import SimpleQueue
from threading import Event
from typing import IO, Any, TypeAlias, TypeVar, cast

# More would wait for the caller.
_MAX_PROCESSES = 4
# Batches queued per process, so that it is never idle.
_ASKED_AHEAD = 4
_LENGTH = struct.Struct("<Q")

Q = TypeVar("Q")
A = TypeVar("A")


def map_batches(
    work: Callable[..., A], batches: Iterator[Q], *settings: Any, alone: int
) -> Generator[tuple[Q, A], None, None]:
    """Every batch in order, with the result of `work(batch, *settings)`.

    The first `alone` batches are processed here, because starting another process does not pay off
    for them. On a single core all are: other processes would only take turns with this one, and
    the communication costs a seventh. `work` is a module-level function, passed by name.
    """
    for batch in islice(batches, None if _cores() == 1 else alone):
        yield batch, work(batch, *settings)
    for batch in batches:
        yield from _map_beside(work, batch, batches, settings)


def name_of(function: Callable[..., Any]) -> str:
    """The name for `pkgutil.resolve_name`."""
    return f"{function.__module__}:{function.__qualname__}"


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """Widgets have no reference cycles: looking for them repeatedly takes a seventh of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _map_beside(
    work: Callable[..., A], first: Q, rest: Iterator[Q], settings: tuple[Any, ...]
) -> Iterator[tuple[Q, A]]:
    with contextlib.ExitStack() as stack:
        # One core is for the caller.
        count = min(_MAX_PROCESSES, _cores() - 1)
        helpers: list[_Helper] = []
        free: SimpleQueue[_Helper | None] = SimpleQueue()
        for _ in range(count):
            try:
                started = _Helper(name_of(work), settings)
            except OSError:  # No further process can be started.
                free.put(None)
            else:
                stack.callback(started.end)
                helpers.append(started)
                free.put(started)
        is_ending = Event()

        def ask(batch: Q) -> A:
            helper = free.get()
            try:
                if helper is not None:
                    return cast(A, helper.ask(batch))
            except (OSError, EOFError):
                pass  # The process was killed: continue without it.
            finally:
                free.put(helper)
            if is_ending.is_set():
                raise CancelledError  # Nobody waits for the result.
            return work(batch, *settings)

        def stop() -> None:
            """Threads that wait for a helper continue at once."""
            is_ending.set()
            for helper in helpers:
                helper.kill()

        # In reverse order: stop, wait for the threads, then close what they used.
        threads = ThreadPoolExecutor(count)
        stack.callback(threads.shutdown, cancel_futures=True)
        stack.callback(stop)
        under_way: deque[tuple[Q, Future[A]]] = deque()
        batch: Q | None = first
        while batch is not None or under_way:
            if batch is not None:
                under_way.append((batch, threads.submit(ask, batch)))
                batch = next(rest, None)
            if len(under_way) > _ASKED_AHEAD * count or batch is None:
                while not under_way[0][1].done() and _take_back(under_way, work, settings):
                    pass
                done, response = under_way.popleft()
                yield done, response.result()


def _take_back(
    under_way: deque[tuple[Q, Future[A]]], work: Callable[..., A], settings: tuple[Any, ...]
) -> bool:
    """Rather than wait, process a batch that no helper has started; False if there is none."""
    for at in reversed(range(len(under_way))):
        batch, asked = under_way[at]
        if asked.cancel():
            done: Future[A] = Future()
            done.set_result(work(batch, *settings))
            under_way[at] = (batch, done)
            return True
    return False


def _cores() -> int:
    """The cores this process may use, if known."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


class _Helper:
    """A process that handles requests. It ends when the channel is closed."""

    def __init__(self, work: str, settings: tuple[Any, ...]) -> None:
        self._channel, its_end = _Channel.pair()
        with its_end:
            try:
                self._process = subprocess.Popen(  # noqa: S603
                    [sys.executable, "-P", "-m", __name__, work],
                    stdin=its_end.fileno(),
                    stdout=subprocess.DEVNULL,
                    start_new_session=True,  # Ctrl-C is handled by the parent.
                )
            except OSError:
                self._channel.close()
                raise
        with contextlib.suppress(OSError):  # The next call detects that it has ended.
            send(self._channel, settings)

    def ask(self, question: Any) -> Any:
        send(self._channel, question)
        return receive(self._channel)

    def kill(self) -> None:
        self._process.kill()

    def end(self) -> None:
        with self._process:
            self._process.kill()
        self._channel.close()


Stream: TypeAlias = "IO[bytes] | _Channel"


class _Channel:
    """One end of a pair of sockets. A message of any length is read in two calls, which return
    when its length and its content are complete.

    From a pipe, a call reads 64 KB at most, and after each of these the reading thread would
    compete with the computing one for the interpreter: a helper spent half of its time waiting for
    that.
    """

    def __init__(self, end: socket.socket) -> None:
        self._socket = end

    @classmethod
    def pair(cls) -> tuple["_Channel", socket.socket]:
        ours, theirs = socket.socketpair()
        return cls(ours), theirs

    def write(self, message: bytes) -> None:
        self._socket.sendall(message)

    def flush(self) -> None:
        """Nothing is buffered."""

    def read(self, length: int) -> bytes:
        message = self._socket.recv(length, socket.MSG_WAITALL)
        # Less after a signal, or if the other end was closed.
        while len(message) < length and (rest := self._socket.recv(length - len(message))):
            message += rest
        return message

    def close(self) -> None:
        self._socket.close()


def _serve_requests(work: Callable[..., Any]) -> None:
    """The main loop of a helper."""
    channel = _Channel(socket.socket(fileno=sys.stdin.fileno()))
    # A parent that ends with unread results resets the connection.
    with contextlib.suppress(EOFError, ConnectionError), collector_paused():
        settings = receive(channel)
        while True:
            send(channel, work(receive(channel), *settings))
    channel.close()


def send(stream: Stream, values: Any) -> None:
    message = marshal.dumps(values)
    stream.write(_LENGTH.pack(len(message)) + message)
    stream.flush()


def receive(stream: Stream) -> Any:
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    [length] = _LENGTH.unpack(head)
    message = stream.read(length)
    if len(message) < length:
        raise EOFError
    return marshal.loads(message)  # noqa: S302


if __name__ == "__main__":
    _serve_requests(pkgutil.resolve_name(sys.argv[1]))
