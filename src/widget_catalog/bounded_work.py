"""Processes untrusted input in a child process with resource limits.

Some texts make a parser take hours, or hold the interpreter in a single call that no thread can
interrupt. Here the kernel ends the child process instead, and the next task gets a new one.
`python -m` this module is such a process.
"""

import asyncio
import contextlib
import pkgutil
import resource
import select
import signal
import subprocess
import sys
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any, Generic, TypeVar, cast

from .domain.errors import Busy
from .process_pool import name_of, receive, send

# CPU time, so that a busy machine does not cause timeouts.
_MAX_CPU_S = 2.0
_MAX_MEMORY_BYTES = 512 << 20
_MAX_WAITING = 50
# An idle process exits after this time and frees its memory.
_IDLE_S = 60

Q = TypeVar("Q")
A = TypeVar("A")


class BoundedWork(Generic[Q, A]):
    """Runs one task at a time; arguments and results are plain values that are marshalled."""

    def __init__(self, work: Callable[[Q], A]) -> None:
        """`work` is a module-level function, passed by name."""
        self._work = name_of(work)
        self._process: subprocess.Popen[bytes] | None = None
        self._end_process: Callable[[], object] = bool
        self._thread: ThreadPoolExecutor | None = None
        self._waiting = 0

    async def ask(self, question: Q) -> A | None:
        """The result, or None if it would exceed the limits. Raises Busy if the queue is full."""
        if self._waiting >= _MAX_WAITING:
            raise Busy("Too many people ask for this at the same time. Try again soon.", 5)
        # Created on first use, so that no thread exists when a process forks.
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "bounded-work")
        self._waiting += 1
        asked = asyncio.get_running_loop().run_in_executor(self._thread, self._ask, question)
        asked.add_done_callback(self._finish)
        return await asyncio.shield(asked)

    def _finish(self, asked: "asyncio.Future[A | None]") -> None:
        self._waiting -= 1
        if not asked.cancelled():
            asked.exception()  # Retrieved here in case the caller was cancelled.

    def _ask(self, question: Q) -> A | None:
        try:
            process = self._running()
            send(cast(IO[bytes], process.stdin), question)
            return cast(A, receive(cast(IO[bytes], process.stdout)))
        except (OSError, EOFError):
            self._end_process()
            return None

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._process is None or self._process.poll() is not None:
            self._end_process()
            self._process = _start(self._work)
            self._end_process = weakref.finalize(self, _end, self._process)
        return self._process


def _start(work: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-P", "-m", __name__, work],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # Errors here are caused by the input, not by our code.
        start_new_session=True,  # Ctrl-C is handled by the parent.
    )


def _end(process: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(BrokenPipeError), process:
        process.kill()


def _answer_all(work: Callable[[Any], Any]) -> None:
    """Until the parent closes the pipe."""
    resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY_BYTES, _MAX_MEMORY_BYTES))
    questions, answers = sys.stdin.buffer, sys.stdout.buffer
    with contextlib.suppress(EOFError, BrokenPipeError):
        while select.select([questions], [], [], _IDLE_S)[0]:
            question = receive(questions)
            # The signal has no handler, so the kernel ends the process whatever it is doing.
            signal.setitimer(signal.ITIMER_PROF, _MAX_CPU_S)
            answer = work(question)
            signal.setitimer(signal.ITIMER_PROF, 0)
            send(answers, answer)


if __name__ == "__main__":
    _answer_all(pkgutil.resolve_name(sys.argv[1]))
