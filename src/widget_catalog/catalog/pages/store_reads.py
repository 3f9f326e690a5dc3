"""StoreReads: a short-lived cache of data on public pages that only the store has."""

import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import ClassVar, Generic, TypeVar

from ...core.errors import StoreUnavailable

K = TypeVar("K")
V = TypeVar("V")

_MAX_KNOWN = 5_000


class StoreReads(Generic[K, V]):
    kept_s: ClassVar[float]
    """How old what a page shows may be."""

    def __init__(self, read: Callable[[K], Awaitable[V]]) -> None:
        self._read = read
        self._known: dict[K, tuple[float, V | None]] = {}

    async def find(self, key: K) -> V | None:
        """The last value read, if the store is unavailable; None if there is none."""
        read_at, known = self._known.get(key, (0.0, None))
        if read_at and time.monotonic() - read_at < self.kept_s:
            return known
        with suppress(StoreUnavailable):
            known = await self._read(key)
        self._known.pop(key, None)
        if len(self._known) >= _MAX_KNOWN:
            del self._known[next(iter(self._known))]
        self._known[key] = (time.monotonic(), known)
        return known
