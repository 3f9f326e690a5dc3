"""HashingPool: where requests run that hash a password.

Each hash takes a core, 64 MB and about a tenth of a second on purpose. In a pool of their own,
many at once wait for each other, and nobody else waits for them.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ...domain.errors import Busy

T = TypeVar("T")

_THREADS = 2
_MOST = 64
# No single client can take all places.
_MOST_OF_ONE_CLIENT = 16
_WAIT_S = 2


class HashingPool:
    """To be used from one event loop: its counts need no lock."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="hashing")
        self._inside: Counter[str] = Counter()

    async def run(self, client: str, work: Callable[[], T]) -> T:
        """Do it in a thread; Busy if too many wait already."""
        inside = self._inside
        if inside[client] >= _MOST_OF_ONE_CLIENT or inside.total() >= _MOST:
            raise Busy(
                "Too many people are signing in at this moment. Try again in a few seconds.",
                wait_s=_WAIT_S,
            )
        inside[client] += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            inside[client] -= 1
            if not inside[client]:
                del inside[client]

    def close(self) -> None:
        self._threads.shutdown()
