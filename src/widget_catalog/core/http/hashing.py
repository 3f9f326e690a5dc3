"""HashingPool: a thread pool for requests that hash a password.

Each hash takes a core, 64 MB and about a tenth of a second, by design. A separate pool keeps them
from delaying other requests. Queueing is fair by client, so many requests of one client delay only
its own.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ..errors import Busy
from ..jobs.fair_turns import FairTurns

T = TypeVar("T")

_THREADS = 2
_MAX_WAITING = 64
_MAX_WAITING_OF_ONE_CLIENT = 4
_WAIT_S = 2


class HashingPool:
    """Used from one event loop: it needs no lock."""

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
