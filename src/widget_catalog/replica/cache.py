"""A cache bounded by bytes. What came in first goes out first: cheap, and good enough here."""

from collections import OrderedDict
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class ByteBoundedCache(Generic[K, V]):
    """Reading is a plain dict look-up on `items`; writing goes through `put` and `drop`."""

    def __init__(self, max_bytes: int, max_item_bytes: int | None = None) -> None:
        """One giant must not drive out everything else: by default, an item has half the room."""
        self.items: dict[K, V] = {}
        # Ordered, because a plain dict steps over all that was deleted to find its first key.
        self._sizes: OrderedDict[K, int] = OrderedDict()
        self._max_bytes = max_bytes
        self._max_item_bytes = max_bytes // 2 if max_item_bytes is None else max_item_bytes
        self._bytes = 0

    def put(self, key: K, value: V, size_bytes: int) -> None:
        self.drop(key)
        if size_bytes > self._max_item_bytes:
            return
        while self._bytes + size_bytes > self._max_bytes:
            oldest, its_bytes = self._sizes.popitem(last=False)
            del self.items[oldest]
            self._bytes -= its_bytes
        self.items[key] = value
        self._sizes[key] = size_bytes
        self._bytes += size_bytes

    def grow(self, key: K, value: V, more_bytes: int) -> bool:
        """Say that an item has become larger. False: it is not here, or there is no room for it."""
        if self.items.get(key) is not value:
            return False
        size_bytes = self._sizes[key] + more_bytes
        if size_bytes > self._max_item_bytes:
            return False
        self.put(key, value, size_bytes)
        return True

    def drop(self, key: K) -> None:
        if key in self.items:
            del self.items[key]
            self._bytes -= self._sizes.pop(key)

    def clear(self) -> None:
        self.items.clear()
        self._sizes.clear()
        self._bytes = 0
