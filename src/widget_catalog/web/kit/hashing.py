"""HashingPool: a thread pool for requests that hash a password.

Each hash takes a core, 64 MB and about a tenth of a second, by design. A separate pool keeps them
from delaying other requests. Queueing is fair by client, so many requests of one client delay only
its own.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ...domain.errors import Busy

T = TypeVar("T")

_THREADS = 2
_MAX_WAITING = 64
_MAX_WAITING_OF_ONE_CLIENT = 4
_WAIT_S = 2

_Turn = asyncio.Future[None]


class HashingPool:
    """Used from one event loop: it needs no lock."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="hashing")
        self._running = 0
        # Waiting requests by client. The client whose turn is next comes first.
        self._waiting: dict[str, deque[_Turn]] = {}

    async def run(self, client: str, work: Callable[[], T]) -> T:
        """Run it in a thread when it is this client's turn; raises Busy if the queue is full."""
        if self._running < _THREADS:
            self._running += 1
        else:
            await self._wait(client)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._pass_on()

    def close(self) -> None:
        self._threads.shutdown()

    async def _wait(self, client: str) -> None:
        """Return when a thread is free for this client."""
        own = len(self._waiting.get(client, ()))
        if own >= _MAX_WAITING_OF_ONE_CLIENT:
            raise _busy()
        if sum(map(len, self._waiting.values())) >= _MAX_WAITING:
            self._make_room(own)
        turn: _Turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(client, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._pass_on()  # The turn was granted at the same moment.
            else:
                self._forget(client, turn)
            raise

    def _make_room(self, own: int) -> None:
        """Reject the newest request of the client with the most, unless that is the new one."""
        crowded = max(self._waiting, key=lambda it: len(self._waiting[it]))
        if len(self._waiting[crowded]) <= own + 1:
            raise _busy()
        self._waiting[crowded].pop().set_exception(_busy())

    def _pass_on(self) -> None:
        """Give the free thread to the next client."""
        while self._waiting:
            client = next(iter(self._waiting))
            turns = self._waiting.pop(client)
            turn = turns.popleft()
            if turns:
                self._waiting[client] = turns  # Moved to the end of the queue.
            if not turn.done():
                turn.set_result(None)
                return
        self._running -= 1

    def _forget(self, client: str, turn: _Turn) -> None:
        turns = self._waiting.get(client)
        if turns is not None and turn in turns:
            turns.remove(turn)
            if not turns:
                del self._waiting[client]


def _busy() -> Busy:
    return Busy(
        "Too many people are signing in at this moment. Try again in a few seconds.",
        wait_s=_WAIT_S,
    )
