"""FairTurns: a bounded queue for work that few can do at a time, fair by who asks.

Many requests of one client, or for the content of one author, delay only each other.
"""

import asyncio
from collections import deque
from collections.abc import Callable

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
