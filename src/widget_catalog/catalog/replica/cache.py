"""Caches bounded by bytes, with FIFO eviction: cheap, and good enough here."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Any, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

_SLOTS = 1 << 16
# Offers are forgotten after at least this many others that were not cached.
_MIN_OFFERS = 1_000


class CacheRoom:
    """Memory shared by several caches. A cache's unused share is available to the others: who needs
    room takes it from the cache that exceeds its share most, possibly itself.
    """

    def __init__(self, max_bytes: int) -> None:
        self.free_bytes = max_bytes
        self.caches: list[ByteBoundedCache[Any, Any]] = []

    def make(self, size_bytes: int, wanting: "ByteBoundedCache[Any, Any]") -> None:
        """Evict what is needed for an item of this size in this cache."""
        while size_bytes > self.free_bytes:
            # The shares add up to the room, so there is one that exceeds its share with the item.
            most, borrower = wanting.borrowed_bytes() + size_bytes, wanting
            for cache in self.caches:
                if (borrowed := cache.borrowed_bytes()) > most:
                    most, borrower = borrowed, cache
            borrower.drop_oldest()


class ByteBoundedCache(Generic[K, V]):
    """Reading is a plain dict look-up on `items`; writing goes through the methods."""

    def __init__(
        self,
        max_bytes: int,
        max_item_bytes: int | None = None,
        room: CacheRoom | None = None,
        *,
        only_repeated: bool = False,
    ) -> None:
        """In a `room`, `max_bytes` is the share that is guaranteed to this cache.

        One huge item must not evict everything else: by default, an item may take half the share.
        `only_repeated`: even if there is room, only what `is_repeated` is kept.
        """
        self.items: dict[K, V] = {}
        # Ordered, because a plain dict skips over all deleted entries to find its first key.
        self._sizes: OrderedDict[K, int] = OrderedDict()
        self._max_bytes = max_bytes
        self._only_repeated = only_repeated
        self._max_item_bytes = max_bytes // 2 if max_item_bytes is None else max_item_bytes
        self._bytes = 0
        self.misses = 0
        """How often something was offered or put, because it was not here or had changed."""
        self._room = CacheRoom(max_bytes) if room is None else room
        self._room.caches.append(self)
        # One byte of the hash of the last offered key, indexed by the rest of it.
        self._offered = bytearray(_SLOTS)
        self._offers = 0

    def offer(self, key: K, value: V, size_bytes: int) -> bool:
        """Put it if there is room, which includes what others have borrowed of this cache's share;
        if it replaces an item; or if it was offered before, not too long ago. Return whether it was
        put.

        Beyond the share, items requested only once evict nothing and are not cached: their memory
        is reused at once, while it is still in the CPU cache. Neither are items requested less
        often than those they would evict.
        """
        has_room = not self._only_repeated and (
            size_bytes <= self._room.free_bytes or self.borrowed_bytes() + size_bytes <= 0
        )
        if has_room or key in self.items:
            self.misses += 1
        elif not self.is_repeated(key):
            return False
        self.keep(key, value, size_bytes)
        return True

    def is_repeated(self, key: K) -> bool:
        """Whether it was offered recently (a fourth as many keys as items are kept). Records the
        offer.
        """
        self.misses += 1
        self._offers += 1
        if self._offers > max(_MIN_OFFERS, len(self.items) // 4):
            self._offered, self._offers = bytearray(_SLOTS), 0
        hashed = hash((key,))
        # A slot with 0 is empty.
        slot, mark = hashed % _SLOTS, hashed // _SLOTS & 0xFF or 1
        was_offered = self._offered[slot] == mark
        self._offered[slot] = mark
        return was_offered

    def put(self, key: K, value: V, size_bytes: int) -> None:
        self.misses += 1
        self.keep(key, value, size_bytes)

    def keep(self, key: K, value: V, size_bytes: int) -> None:
        """Put what `is_repeated`."""
        self.drop(key)
        if size_bytes > self._max_item_bytes:
            return
        room = self._room
        if size_bytes > room.free_bytes:
            room.make(size_bytes, self)
        self.items[key] = value
        self._sizes[key] = size_bytes
        self._bytes += size_bytes
        room.free_bytes -= size_bytes

    def grow(self, key: K, value: V, more_bytes: int) -> bool:
        """Record that an item has grown. False: it is not cached, or there is no room for it."""
        if self.items.get(key) is not value:
            return False
        size_bytes = self._sizes[key] + more_bytes
        if size_bytes > self._max_item_bytes:
            return False
        self.keep(key, value, size_bytes)
        return True

    def drop(self, key: K) -> None:
        if key in self.items:
            del self.items[key]
            self._give_back(self._sizes.pop(key))

    def clear(self) -> None:
        self.items.clear()
        self._sizes.clear()
        self._give_back(self._bytes)

    def drop_oldest(self) -> None:
        """The cache must not be empty."""
        key, size_bytes = self._sizes.popitem(last=False)
        del self.items[key]
        self._give_back(size_bytes)

    def _give_back(self, size_bytes: int) -> None:
        self._bytes -= size_bytes
        self._room.free_bytes += size_bytes

    def borrowed_bytes(self) -> int:
        """How far it exceeds its share; negative if it is below it."""
        return self._bytes - self._max_bytes


class CacheByWidget(Generic[V]):
    """Several items for each widget, by its `scope/name`: they are dropped together."""

    def __init__(self, max_bytes: int, room: CacheRoom) -> None:
        # Most have one: without a dict it takes an eighth less memory.
        self._kept: ByteBoundedCache[str, dict[Hashable, V] | tuple[Hashable, V]]
        self._kept = ByteBoundedCache(max_bytes, room=room)
        self.drop, self.clear = self._kept.drop, self._kept.clear

    def get(self, widget: str, key: Hashable) -> V | None:
        known = self._kept.items.get(widget)
        if isinstance(known, tuple):
            return known[1] if known[0] == key else None
        return None if known is None else known.get(key)

    def offer(self, widget: str, key: Hashable, value: V, size_bytes: int) -> None:
        known = self._kept.items.get(widget)
        if known is None or not self._kept.grow(widget, known, size_bytes):
            # With too many for one widget, it starts anew.
            self._kept.offer(widget, (key, value), size_bytes)
        elif isinstance(known, tuple):
            self._kept.items[widget] = dict([known, (key, value)])
        else:
            known[key] = value
