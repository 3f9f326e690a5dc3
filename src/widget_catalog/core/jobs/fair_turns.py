"""FairTurns: a bounded queue for work that few can do at a time, fair by who asks.

Many requests of one client, or for the content of one author, delay only each other. Next comes who
would have used the least time after the turn: what was used since others wait, and what the turn is
expected to take. So cheap requests pass the expensive ones of many, the first of each included.
"""

import asyncio
import math
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from ..errors import Busy

# About what six of the largest pictures take.
_CLAIM_S = 5
_MAX_KNOWN = 10_000


class _Turn(NamedTuple):
    granted: asyncio.Future[None]
    expected_s: float


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
        # Waiting requests by who asks. Who was served last is at the end.
        self._waiting: dict[str, deque[_Turn]] = {}
        # The time used by each. Forgotten when nobody waits.
        self._used_s: dict[str, float] = {}
        self._reached_s = 0.0

    async def take(self, asker: str, expected_s: float = 0) -> None:
        """Return when it is this asker's turn. Must be followed by `give_back`.

        A wrong `expected_s` matters for this turn only: later ones depend on what was used.
        """
        if self._free:
            self._free -= 1
        else:
            await self._wait(asker, expected_s)

    def give_back(self, asker: str, used_s: float) -> None:
        """End a turn, and give the free slot to the next asker."""
        self._used_s[asker] = self._used_by(asker) + used_s
        self._grant()

    def _grant(self) -> None:
        while self._waiting:
            asker = min(self._waiting, key=self._expected_after)
            self._reached_s = max(self._reached_s, self._used_s[asker])
            turns = self._waiting.pop(asker)
            turn = turns.popleft()
            if turns:
                self._waiting[asker] = turns  # Moved to the end of the queue.
            if not turn.granted.done():
                turn.granted.set_result(None)
                return
        self._used_s.clear()
        self._reached_s = 0.0
        self._free += 1

    async def _wait(self, asker: str, expected_s: float) -> None:
        own = len(self._waiting.get(asker, ()))
        if own >= self._max_waiting_of_one:
            raise self._busy()
        if sum(map(len, self._waiting.values())) >= self._max_waiting:
            self._make_room(own)
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        turn = _Turn(granted, expected_s)
        self._waiting.setdefault(asker, deque()).append(turn)
        self._start(asker)
        try:
            await granted
        except asyncio.CancelledError:
            if granted.done() and not granted.cancelled() and granted.exception() is None:
                self._grant()  # The turn was granted at the same moment.
            else:
                self._forget(asker, turn)
            raise

    def _start(self, asker: str) -> None:
        self._used_s[asker] = self._used_by(asker)
        if len(self._used_s) > _MAX_KNOWN:
            self._used_s = {it: self._used_s[it] for it in self._waiting}

    def _used_by(self, asker: str) -> float:
        """Who comes later has at most a small claim from the time when it did not ask."""
        return max(self._used_s.get(asker, -math.inf), self._reached_s - _CLAIM_S)

    def _expected_after(self, asker: str) -> float:
        return self._used_s[asker] + self._waiting[asker][0].expected_s

    def _make_room(self, own: int) -> None:
        """Reject the newest request of the asker with the most, unless that is the new one."""
        crowded = max(self._waiting, key=lambda it: len(self._waiting[it]))
        if len(self._waiting[crowded]) <= own + 1:
            raise self._busy()
        turn = self._waiting[crowded].pop()
        if not turn.granted.done():  # Otherwise it was cancelled at the same moment.
            turn.granted.set_exception(self._busy())

    def _forget(self, asker: str, turn: _Turn) -> None:
        turns = self._waiting.get(asker)
        if turns is not None and turn in turns:
            turns.remove(turn)
            if not turns:
                del self._waiting[asker]
