"""Processes untrusted input in a child process with resource limits.

Some texts make a parser take hours, or hold the interpreter in a single call that no thread can
interrupt. Here the kernel ends the child process instead, and the next task gets a new one.
`python -m` this module is such a process.
"""

import asyncio
import contextlib
import hashlib
import marshal
import pkgutil
import resource
import select
import signal
import subprocess
import sys
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any, Generic, TypeVar, cast

from ..errors import Busy
from ..languages.language import N_
from ..tracing import part
from .fair_turns import FairTurns
from .process_pool import name_of, receive, send

# CPU time, so that a busy machine does not cause timeouts.
_MAX_CPU_S = 2.0
_MAX_MEMORY_BYTES = 512 << 20
_MAX_WAITING = 64
_MAX_WAITING_OF_ONE_SCOPE = 16
# Longer than the two tasks that may be ahead if only one other scope is waiting. After this time a
# page is shown without the result, and what nobody waits for leaves the queue.
_MAX_WAIT_S = 5
# An idle process exits after this time and frees its memory.
_IDLE_S = 60
_MAX_REMEMBERED = 5_000

Q = TypeVar("Q")
A = TypeVar("A")


class BoundedWork(Generic[Q, A]):
    """Runs one task at a time, fair by scope; arguments and results are plain values that are
    marshalled. Used from one event loop.
    """

    def __init__(self, work: Callable[[Q], A], max_wait_s: float = _MAX_WAIT_S) -> None:
        """`work` is a module-level function, passed by name."""
        self._max_wait_s = max_wait_s
        self._process = BoundedProcess(work)
        self._thread: ThreadPoolExecutor | None = None
        self._turns = FairTurns(
            1, max_waiting=_MAX_WAITING, max_waiting_of_one=_MAX_WAITING_OF_ONE_SCOPE, busy=_busy
        )
        self._asked: dict[str, asyncio.Task[A | None]] = {}
        # Digests of the questions that exceeded the limits, so that each does so only once.
        self._too_expensive: OrderedDict[str, None] = OrderedDict()

    async def ask(
        self, question: Q, scope: str, digest: str | None = None, expected_s: float = 0
    ) -> A | None:
        """The result, or None if it would exceed the limits. Raises Busy if others come first.

        `scope` is the one whose author wrote the question. The same question is processed once,
        however many wait for it. Once started, it is finished also if nobody waits, so that its
        cost is known. `digest` identifies a long question, which is not hashed again then.
        `expected_s` is an estimate of its cost, for the order of turns.
        """
        key = digest or hashlib.sha256(marshal.dumps(cast(Any, question))).hexdigest()
        if key in self._too_expensive:
            return None
        asked = self._asked.get(key)
        if asked is None:
            asked = asyncio.create_task(self._process_in_turn(key, question, scope, expected_s))
            self._asked[key] = asked
            asked.add_done_callback(lambda it: self._finish(key, it))
        return await asyncio.shield(asked)

    def _finish(self, key: str, asked: "asyncio.Task[A | None]") -> None:
        del self._asked[key]
        if not asked.cancelled():
            asked.exception()  # Retrieved here in case all callers were cancelled.

    async def _process_in_turn(
        self, key: str, question: Q, scope: str, expected_s: float
    ) -> A | None:
        try:
            async with asyncio.timeout(self._max_wait_s):
                await self._turns.take(scope, expected_s)
        except TimeoutError:
            raise _busy() from None
        since = time.monotonic()
        try:
            # Created on first use, so that no thread exists when a process forks.
            if self._thread is None:
                self._thread = ThreadPoolExecutor(1, "bounded-work")
            run = asyncio.get_running_loop().run_in_executor
            response = await run(self._thread, self._process.ask, question)
        finally:
            self._turns.give_back(scope, time.monotonic() - since)
        if response is None:
            self._too_expensive[key] = None
            if len(self._too_expensive) > _MAX_REMEMBERED:
                self._too_expensive.popitem(last=False)
        return response


class BoundedProcess(Generic[Q, A]):
    """The child process, which is started when it is needed. For one thread at a time."""

    def __init__(self, work: Callable[[Q], A], max_cpu_s: float = _MAX_CPU_S) -> None:
        self._work = name_of(work)
        self._max_cpu_s = max_cpu_s
        self._process: subprocess.Popen[bytes] | None = None
        self._end_process: Callable[[], object] = bool

    def ask(self, question: Q) -> A | None:
        """The result, or None if it would exceed the limits. Raises Busy if there is no process."""
        with part("bounded_work"):
            return self._ask(question)

    def close(self) -> None:
        """End the child process, whatever it is doing."""
        self._end_process()

    def _ask(self, question: Q) -> A | None:
        for _ in range(2):
            try:
                process = self._running()
            except OSError:  # No process can be started now.
                break
            try:
                send(cast(IO[bytes], process.stdin), question)
                return cast(A, receive(cast(IO[bytes], process.stdout)))
            except (OSError, EOFError):
                is_idle_exit = process.wait() == 0
                self._end_process()
                if not is_idle_exit:
                    return None
        raise _busy()

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._process is None or self._process.poll() is not None:
            self._end_process()
            self._process = _start(self._work, self._max_cpu_s)
            self._end_process = weakref.finalize(self, _end, self._process)
        return self._process


def _busy() -> Busy:
    sentence = N_("Too many people ask for this at the same time. Try again soon.")
    return Busy(sentence, _MAX_WAIT_S)


def _start(work: str, max_cpu_s: float) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-P", "-m", __name__, work, str(max_cpu_s)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # Errors here are caused by the input, not by our code.
        start_new_session=True,  # Ctrl-C is handled by the parent.
    )


def _end(process: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(BrokenPipeError), process:
        process.kill()


def _serve_requests(work: Callable[[Any], Any], max_cpu_s: float) -> None:
    """Until the parent closes the pipe."""
    resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY_BYTES, _MAX_MEMORY_BYTES))
    questions, responses = sys.stdin.buffer, sys.stdout.buffer
    with contextlib.suppress(EOFError, BrokenPipeError):
        while select.select([questions], [], [], _IDLE_S)[0]:
            question = receive(questions)
            # The signal has no handler, so the kernel ends the process whatever it is doing.
            signal.setitimer(signal.ITIMER_PROF, max_cpu_s)
            response = work(question)
            signal.setitimer(signal.ITIMER_PROF, 0)
            send(responses, response)


if __name__ == "__main__":
    _serve_requests(pkgutil.resolve_name(sys.argv[1]), float(sys.argv[2]))
