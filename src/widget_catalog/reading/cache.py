"""A cache bounded by bytes. What came in first goes out first: cheap, and good enough here."""

from collections import OrderedDict
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class ByteBoundedCache(Generic[K, V]):
    """Reading is a plain dict look-up on `items`; writing goes through `put` and `drop`."""

    def __init__(self, max_bytes: int) -> None:
        self.items: dict[K, V] = {}
        # Ordered, because a plain dict steps over all that was deleted to find its first key.
        self._sizes: OrderedDict[K, int] = OrderedDict()
        self._max_bytes = max_bytes
        self._bytes = 0

    def put(self, key: K, value: V, size_bytes: int) -> None:
        self.drop(key)
        if size_bytes > self._max_bytes // 2:
            return  # One giant must not drive out everything else.
        while self._bytes + size_bytes > self._max_bytes:
            self.drop(next(iter(self._sizes)))
        self.items[key] = value
        self._sizes[key] = size_bytes
        self._bytes += size_bytes

    def drop(self, key: K) -> None:
        if key in self.items:
            del self.items[key]
            self._bytes -= self._sizes.pop(key)

    def clear(self) -> None:
        self.items.clear()
        self._sizes.clear()
        self._bytes = 0
