"""Receives large bodies with limited concurrency and backpressure."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ..errors import Busy, TooOften
from .http import Body

# Timeouts for a whole body, and for its next bytes.
_TIMEOUT_S = 300
_STALLED_S = 30
_WAIT_S = 5
# Limit for the announced bytes of all bodies that a worker receives concurrently. One body is
# always accepted, whatever its size.
MAX_BYTES = 64 << 20
# Concurrent uploads from one network: twice what the tool and browsers send, of several people.
_MAX_UPLOADS = 8
# Forms with files that an account may send concurrently, from any address.
_MAX_FORMS = 2
# They wait for the disk, and nothing else waits for them.
_THREADS = 4

_T = TypeVar("_T")


class Receiver:
    """One per worker."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="uploads")
        self._under_way: Counter[str] = Counter()
        self._forms: Counter[str] = Counter()
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
        """Requests the next bytes only when the last ones are written: no buffering.

        Raises TimeoutError if they do not arrive in time.
        """
        await asyncio.wait_for(self._pass_on(body, write), _TIMEOUT_S)

    async def _pass_on(self, body: Body, write: Callable[[bytes], None]) -> None:
        chunks = aiter(body)
        with contextlib.suppress(StopAsyncIteration):
            while True:
                chunk = await asyncio.wait_for(_next(chunks), _STALLED_S)
                await self.in_thread(write, chunk)

    @contextlib.contextmanager
    def limit_uploads(self, network: str) -> Iterator[None]:
        """Raises TooOften if this client has reached its limit of concurrent uploads."""
        sentence = f"At most {_MAX_UPLOADS} files can be uploaded from your address at a time."
        with _one_more(self._under_way, network, _MAX_UPLOADS, sentence):
            yield

    @contextlib.contextmanager
    def limit_forms(self, account: str) -> Iterator[None]:
        """Raises TooOften if this account has reached its limit of concurrent forms with files."""
        sentence = f"At most {_MAX_FORMS} forms with files can be sent by one account at a time."
        with _one_more(self._forms, account, _MAX_FORMS, sentence):
            yield

    @contextlib.contextmanager
    def limit_bytes(self, size: int) -> Iterator[None]:
        """Raises Busy if too many bytes are being received."""
        if self._under_way_bytes and self._under_way_bytes + size > MAX_BYTES:
            raise Busy(
                f"Many files are being uploaded just now. Try again in {_WAIT_S} seconds.",
                wait_s=_WAIT_S,
            )
        self._under_way_bytes += size
        try:
            yield
        finally:
            self._under_way_bytes -= size


@contextlib.contextmanager
def _one_more(under_way: Counter[str], key: str, most: int, sentence: str) -> Iterator[None]:
    if most and under_way[key] >= most:
        raise TooOften(f"{sentence} Try again in {_WAIT_S} seconds.", wait_s=_WAIT_S)
    under_way[key] += 1
    try:
        yield
    finally:
        under_way[key] -= 1
        if not under_way[key]:
            del under_way[key]


async def _next(chunks: AsyncIterator[bytes]) -> bytes:
    return await anext(chunks)
