"""Receiver: takes large bodies in, so many at a time, and no faster than they are written."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ...domain.errors import Busy, TooOften
from .http import Body

# For a whole body, and for the next bytes of it.
_PATIENCE_S = 300
_STALLED_S = 30
_WAIT_S = 5
# What a worker receives at the same time: announced bytes of all bodies together. One is always
# received, however large.
MOST_BYTES = 64 << 20
# They wait for the disk; nothing else waits for them.
_THREADS = 4

_T = TypeVar("_T")


class Receiver:
    """One a worker."""

    def __init__(self, max_parallel: int) -> None:
        """`max_parallel`: how many bodies from one network at a time; 0 is no limit."""
        self._max_parallel = max_parallel
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="uploads")
        self._under_way: Counter[str] = Counter()
        self._under_way_bytes = 0

    @property
    def in_progress(self) -> int:
        return self._under_way.total()

    def close(self) -> None:
        self._threads.shutdown()

    async def in_thread(self, call: Callable[..., _T], *arguments: object) -> _T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, call, *arguments)

    async def pass_on(self, body: Body, write: Callable[[bytes], None]) -> None:
        """The next bytes are asked for when the last ones are written: none pile up.

        TimeoutError, if they do not come in time.
        """
        await asyncio.wait_for(self._pass_on(body, write), _PATIENCE_S)

    async def _pass_on(self, body: Body, write: Callable[[bytes], None]) -> None:
        chunks = aiter(body)
        with contextlib.suppress(StopAsyncIteration):
            while True:
                chunk = await asyncio.wait_for(_next(chunks), _STALLED_S)
                await self.in_thread(write, chunk)

    @contextlib.contextmanager
    def one_of_few(self, network: str) -> Iterator[None]:
        """TooOften, if this client has as many uploads under way as it may."""
        most = self._max_parallel
        if most and self._under_way[network] >= most:
            raise TooOften(
                f"At most {most:,} files can be uploaded from your address at a time. Try again "
                f"in {_WAIT_S} seconds.",
                wait_s=_WAIT_S,
            )
        self._under_way[network] += 1
        try:
            yield
        finally:
            self._under_way[network] -= 1
            if not self._under_way[network]:
                del self._under_way[network]

    @contextlib.contextmanager
    def few_bytes(self, size: int) -> Iterator[None]:
        """Busy, if as much is being received as there may be."""
        if self._under_way_bytes and self._under_way_bytes + size > MOST_BYTES:
            raise Busy(
                f"Many files are being uploaded just now. Try again in {_WAIT_S} seconds.",
                wait_s=_WAIT_S,
            )
        self._under_way_bytes += size
        try:
            yield
        finally:
            self._under_way_bytes -= size


async def _next(chunks: AsyncIterator[bytes]) -> bytes:
    return await anext(chunks)
