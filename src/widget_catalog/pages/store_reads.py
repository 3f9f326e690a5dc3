"""Data of public pages that only the store has, kept for a short time."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from typing import ClassVar, Generic, NamedTuple, TypeVar

from ..catalog.store.installs import Installs, read_chart
from ..catalog.store.scopes import PublicMember
from ..core.db.engine import Store
from ..core.errors import StoreUnavailable
from ..core.tracing import part

K = TypeVar("K")
V = TypeVar("V")

WAIT_S = 0.3
"""How long a page waits for the store, before it shows what is known. A load balancer asks another
node after a second (`deploy/haproxy.cfg`)."""
_MAX_KNOWN = 5_000


class StoreAccess(NamedTuple):
    """`threads` read the store of a service; a command reads it itself."""

    store: Store
    threads: Executor | None = None

    def bind(self, read: Callable[[Store, K], V]) -> Callable[[K], Awaitable[V]]:
        store, threads = self

        async def found(key: K) -> V:
            if threads is None:
                return read(store, key)
            return await asyncio.get_running_loop().run_in_executor(threads, read, store, key)

        return found


class StoreReads(Generic[K, V]):
    """Nobody waits for a store that is slow or hangs: after `WAIT_S`, a page shows the last value
    read.
    """

    kept_s: ClassVar[float]
    """How old what a page shows may be, while the store responds."""
    is_awaited: ClassVar[bool] = True
    """Whether a page waits for a newer value; otherwise only for the first."""

    def __init__(self, read: Callable[[K], Awaitable[V]], *, is_at_once: bool = False) -> None:
        """`is_at_once`: `read` never waits."""
        self._read = read
        self._is_at_once = is_at_once
        self._known: dict[K, tuple[float, V | None]] = {}
        self._reading: dict[K, tuple[float, asyncio.Task[V | None]]] = {}

    async def find(self, key: K, kept_s: float | None = None) -> V | None:
        """None if nothing was read yet. `kept_s`: less than usual."""
        at = time.monotonic()
        kept_s = self.kept_s if kept_s is None else kept_s
        read_at, known = self._known.get(key, (None, None))
        if read_at is not None and at - read_at < kept_s:
            return known
        if self._is_at_once:
            return await self._read_again(key, known)
        self.begin(key, kept_s)
        began_at, task = self._reading[key]
        left_s = began_at + WAIT_S - at
        if left_s > 0 and (self.is_awaited or read_at is None):
            with part("page_data"):
                await asyncio.wait([task], timeout=left_s)
        return task.result() if task.done() else known

    def begin(self, key: K, kept_s: float | None = None) -> None:
        """Read it if that is due. A page that shows several values begins with all of them, so that
        it waits for them at the same time.
        """
        at = time.monotonic()
        read_at, known = self._known.get(key, (None, None))
        kept_s = self.kept_s if kept_s is None else kept_s
        is_due = read_at is None or at - read_at >= kept_s
        if is_due and key not in self._reading and not self._is_at_once:
            self._reading[key] = (at, asyncio.ensure_future(self._read_again(key, known)))

    async def _read_again(self, key: K, known: V | None) -> V | None:
        try:
            with suppress(StoreUnavailable):
                known = await self._read(key)
        finally:
            self._reading.pop(key, None)
        self._known.pop(key, None)
        if len(self._known) >= _MAX_KNOWN:
            del self._known[next(iter(self._known))]
        self._known[key] = (time.monotonic(), known)
        return known


class InstallsReader(StoreReads[int, Installs]):
    """The installs over time, by the widget's number."""

    kept_s = 30.0

    def __init__(self, access: StoreAccess) -> None:
        # Threads are not worth it where a read takes microseconds.
        is_at_once = access.store.reads_at_once
        access = access._replace(threads=None) if is_at_once else access
        super().__init__(access.bind(read_chart), is_at_once=is_at_once)


class MembersReader(StoreReads[str, Sequence[PublicMember]]):
    """The public members of a scope."""

    kept_s = 2.0  # Short, because members who leave or become private must disappear soon.


class TrendingReader(StoreReads[None, tuple[str, ...]]):
    """The widgets whose installs grow. In a large catalog it takes a second to find them."""

    kept_s = 300.0
    is_awaited = False
