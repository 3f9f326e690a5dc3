"""FairTurns: a bounded queue for work that few can do at a time, fair by who asks.

Many requests of one client, or for the content of one author, delay only each other.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ..errors import Busy

_Turn = asyncio.Future[None]


class FairTurns:
    """Used from one event loop: it needs no lock."""

    def __init__(
        self, slots: int, *, max_waiting: int, max_waiting_of_one: int, busy: Callable[[], Busy]
    ) -> None:
        """`busy` makes the exception for those who find the queue full."""
        self._free = slots
        self._max_waiting = max_waiting
        self._max_waiting_of_one = max_waiting_of_one
        self._busy = busy
        # Waiting requests by who asks. Whose turn is next comes first.
        self._waiting: dict[str, deque[_Turn]] = {}

    async def take(self, asker: str) -> None:
        """Return when it is this asker's turn. Must be followed by `give_back`."""
        if self._free:
            self._free -= 1
        else:
            await self._wait(asker)

    def give_back(self) -> None:
        """Give the free slot to the next asker."""
        while self._waiting:
            asker = next(iter(self._waiting))
            turns = self._waiting.pop(asker)
            turn = turns.popleft()
            if turns:
                self._waiting[asker] = turns  # Moved to the end of the queue.
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    async def _wait(self, asker: str) -> None:
        own = len(self._waiting.get(asker, ()))
        if own >= self._max_waiting_of_one:
            raise self._busy()
        if sum(map(len, self._waiting.values())) >= self._max_waiting:
            self._make_room(own)
        turn: _Turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(asker, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self.give_back()  # The turn was granted at the same moment.
            else:
                self._forget(asker, turn)
            raise

    def _make_room(self, own: int) -> None:
        """Reject the newest request of the asker with the most, unless that is the new one."""
        crowded = max(self._waiting, key=lambda it: len(self._waiting[it]))
        if len(self._waiting[crowded]) <= own + 1:
            raise self._busy()
        turn = self._waiting[crowded].pop()
        if not turn.done():  # Otherwise it was cancelled at the same moment.
            turn.set_exception(self._busy())

    def _forget(self, asker: str, turn: _Turn) -> None:
        turns = self._waiting.get(asker)
        if turns is not None and turn in turns:
            turns.remove(turn)
            if not turns:
                del self._waiting[asker]


T = TypeVar("T")

_THREADS = 2
_MAX_WAITING = 64
_MAX_WAITING_OF_ONE_CLIENT = 4
_WAIT_S = 2


class HashingPool:
    """A thread pool for requests that hash a password. Each hash takes a core, 64 MB and about a
    tenth of a second, by design; a separate pool keeps them from delaying other requests.
    """

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="hashing")
        self._turns = FairTurns(
            _THREADS,
            max_waiting=_MAX_WAITING,
            max_waiting_of_one=_MAX_WAITING_OF_ONE_CLIENT,
            busy=_busy,
        )

    async def run(self, client: str, work: Callable[[], T]) -> T:
        """Run it in a thread when it is this client's turn; raises Busy if the queue is full."""
        await self._turns.take(client)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._turns.give_back()

    def close(self) -> None:
        self._threads.shutdown()


def _busy() -> Busy:
    return Busy(
        "Too many people are signing in at this moment. Try again in a few seconds.", wait_s=_WAIT_S
    )
