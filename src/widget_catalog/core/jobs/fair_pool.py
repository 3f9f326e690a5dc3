"""FairPool: a small pool of threads that serves those who ask in fair turns."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ..errors import Busy
from .fair_turns import FairTurns

T = TypeVar("T")


class FairPool:
    """A small thread pool with fair turns, for requests that would hold up all others."""

    def __init__(
        self,
        name: str,
        threads: int,
        *,
        max_waiting: int,
        max_waiting_of_one: int,
        busy: Callable[[], Busy],
    ) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._turns = FairTurns(
            threads, max_waiting=max_waiting, max_waiting_of_one=max_waiting_of_one, busy=busy
        )

    async def run(self, asker: str, work: Callable[[], T]) -> T:
        """Run it in a thread when it is the asker's turn; raises Busy if the queue is full."""
        await self._turns.take(asker)
        since = time.monotonic()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._turns.give_back(asker, time.monotonic() - since)

    def close(self) -> None:
        self._threads.shutdown()


_WAIT_S = 2
_SIGNING_IN = "Too many people are signing in at this moment. Try again in a few seconds."
_PUBLISHING = "Too many versions are being published at this moment. Try again in a few seconds."


def hashing_pool() -> FairPool:
    """For requests that hash a password, by client. Each hash takes a core, 64 MB and about a tenth
    of a second, by design.
    """
    return FairPool(
        "hashing",
        2,
        max_waiting=64,
        max_waiting_of_one=4,
        busy=lambda: Busy(_SIGNING_IN, wait_s=_WAIT_S),
    )


def publishing_pool() -> FairPool:
    """For requests that read, hash and store what an author has sent, by account."""
    return FairPool(
        "publishing",
        4,
        max_waiting=256,
        max_waiting_of_one=32,
        busy=lambda: Busy(_PUBLISHING, wait_s=_WAIT_S),
    )
