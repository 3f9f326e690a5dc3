"""Popularity: the order by downloads, then scope, then name, and windows of it.

Exact at every request up to 10,000 widgets; above that it may lag the counts by half a
minute. Sorting what is nearly in order costs little, and the next order nearly is.
"""

import time
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from pyroaring import BitMap

from ..replica.ordinals import Array, members_of, set_of
from ..replica.revision import Counts

_EXACT_UP_TO = 10_000
_LAG_S = 30.0
# The most popular 1 in 256 and 1 in 16 have separate sets: if these contain a whole window, the
# others are not needed. Trying one pays off if twice a window can be expected in it.
_HEAD_SHIFTS = (8, 4)
# Up to this many are sorted faster without numpy.
_VERY_FEW = 24
# Up to this many counted ones are moved one by one; with more, all are sorted.
_MAX_MOVED = 16
_MAX_COUNTED = 1_000


class Insertion(NamedTuple):
    """Where a widget goes by name: in place of an ordinal, or just after one."""

    widget_id: int
    replaced: int | None
    before: int | None


class Mark:
    """A page of the order: which ordinals take part, which are shown, the last of these, and how
    many of the counted ordinals it has been checked against.
    """

    __slots__ = ("among", "at", "counted", "last", "shown")

    def __init__(self, among: BitMap, shown: list[int], counted: list[int]) -> None:
        self.among = among
        self.shown = frozenset(shown)
        self.last = shown[-1] if shown else 0
        self.counted = counted
        self.at = len(counted)


class Popularity:
    """`_order` holds the live ordinals, most popular first; `_position` is its inverse.

    `_counted` are the ordinals whose count was seen to grow since it was last cleared. It is
    cleared wherever more than that may have changed. `is_exact`: the order follows every count at
    once.
    """

    is_exact: bool

    def __init__(self, counts: Counts, ids: Array, ranks: Array) -> None:
        """Start with these widgets: their numbers and their ranks by name, by ordinal."""
        self._counts = counts
        self.ids = ids
        self.ranks = ranks
        self._order: Array = np.arange(len(ids), dtype=np.int32)
        self._counted: list[int] = []
        self._revision = 0
        self._refreshed_at = 0.0
        self._seen: Array = np.empty(0, np.uint64)
        self._begin_anew()

    def update(self, gone: Sequence[int], places: Sequence[Insertion]) -> None:
        """Remove these ordinals, and assign the next ones to these widgets, in the
        order of names.
        """
        self._order = np.delete(self._order, self._position[list(gone)])
        self._add(places)
        self._begin_anew()

    def refresh(self) -> None:
        """Follow the counts, if they have changed and it is time."""
        revision = self._counts.revision()
        if revision == self._revision:
            return
        if self.is_exact:
            self._revision = revision
            counts = self._counts.array[: len(self._seen)].copy()
            # Slot 0 does not belong to a widget.
            changed = (np.flatnonzero(counts[1:] != self._seen[1:]) + 1).tolist()
            if len(changed) > _MAX_MOVED or (counts[changed] < self._seen[changed]).any():
                self._begin_anew()
                return
            for widget_id in changed:
                self._seen[widget_id] = counts[widget_id]
                for ordinal in np.flatnonzero(self.ids == widget_id).tolist():
                    self._move_up(ordinal)
            if len(self._counted) > _MAX_COUNTED:
                self._counted = []
        elif time.monotonic() - self._refreshed_at > _LAG_S:
            self._begin_anew()

    def mark(self, among: BitMap, positions: list[int]) -> Mark:
        """To check later whether the page that shows these, among those that take part, is the
        same.
        """
        if not positions:
            among = BitMap()
        return Mark(among, [self._order_at[it] for it in positions], self._counted)

    def holds(self, mark: Mark) -> bool:
        """Whether the page has stayed the same.

        It has if no widget on it was counted, and no other one that takes part and was counted is
        now as popular as the last one on it: one that is less popular now was so before.
        """
        if mark.counted is not self._counted:
            return False
        if mark.at < len(self._counted):
            among, shown, position = mark.among, mark.shown, self._position_at
            for ordinal in self._counted[mark.at :]:
                if ordinal in among and (
                    ordinal in shown or position[ordinal] < position[mark.last]
                ):
                    return False
            mark.at = len(self._counted)
        return True

    def window(self, among: BitMap, start: int, stop: int) -> list[int]:
        """The positions of these in the order, for a window of them, if only some take part."""
        size = len(among)
        if size == len(self._order):
            return list(range(start, stop))
        if size <= _VERY_FEW:
            return sorted([self._position_at[it] for it in among.to_array()])[start:stop]
        for shift, head in self._heads:
            if size >> shift >= 2 * stop:
                popular = among & head
                if len(popular) >= stop:
                    among = popular
                    break
        positions: Array = self._position.take(members_of(among))
        if stop < len(positions) >> 4:
            positions = np.partition(positions, stop)[:stop]
        positions.sort()
        window: list[int] = positions[start:stop].tolist()
        return window

    def positions(self, ordinals: Array) -> Array:
        """The positions of these in the order."""
        found: Array = self._position[ordinals]
        return found

    def positions_of(self, ordinals: Sequence[int]) -> list[int]:
        """The positions of a few in the order."""
        return [self._position_at[it] for it in ordinals]

    def ids_at(self, positions: list[int]) -> list[int]:
        """The numbers of the widgets at these positions of the order."""
        ids = self._id_in_order
        return [ids[it] for it in positions]

    def ids_of(self, ordinals: list[int]) -> list[int]:
        """The numbers of the widgets with these ordinals."""
        return [self._id_at[it] for it in ordinals]

    def _add(self, places: Sequence[Insertion]) -> None:
        old_size = len(self.ids)
        # The position of each new one among the old ranks, and its identity; after another new one
        # if that comes before it.
        slots: list[int] = []
        new: list[int] = []
        ranks = np.zeros(len(places), np.int32)
        for i, (_, replaced, before) in enumerate(places):
            if replaced is not None:
                ranks[i] = self.ranks[replaced]
                continue
            if before is None:
                slot = 0
            elif before < old_size:
                slot = int(self.ranks[before]) + 1
            else:
                behind = before - old_size
                slot = int(ranks[behind]) + (places[behind].replaced is not None)
            ranks[i] = slot
            slots.append(slot)
            new.append(i)
        self.ids = np.append(self.ids, np.array([it.widget_id for it in places], np.int32))
        self.ranks = np.append(self.ranks, ranks)
        self._order = np.append(self._order, np.arange(old_size, len(self.ids), dtype=np.int32))
        # Each old rank increases by the number of new ones before it; new ones by their own
        # number.
        self.ranks += np.searchsorted(slots, self.ranks, side="right").astype(np.int32)
        self.ranks[[old_size + i for i in new]] = np.add(slots, np.arange(len(slots)))

    def _begin_anew(self) -> None:
        self.is_exact = len(self._order) <= _EXACT_UP_TO
        self._counted = []
        self._revision = self._counts.revision()
        self._refreshed_at = time.monotonic()
        self._seen = self._counts.array[: int(self.ids.max(initial=0)) + 1]
        if self.is_exact:
            self._seen = self._seen.copy()
        counts = self._seen[self.ids[self._order]].astype(np.int64)
        ranks = self.ranks[self._order]
        most, count = int(counts.max(initial=0)), int(ranks.max(initial=0)) + 1
        if most * count < 1 << 62:
            sorting = np.argsort((most - counts) * count + ranks, kind="stable")
        else:
            sorting = np.lexsort((ranks, -counts))
        self._order = self._order[sorting]
        self._position = np.zeros(len(self.ids), np.int32)
        self._position[self._order] = np.arange(len(self._order), dtype=np.int32)
        # Views return plain numbers, five times as fast as arrays.
        self._order_at, self._position_at = self._order.data, self._position.data
        self._id_at = self.ids.data
        self._ids_in_order = self.ids[self._order]
        self._id_in_order = self._ids_in_order.data
        self._set_heads()

    def _set_heads(self) -> None:
        size = len(self._order)
        self._heads = [(it, set_of(self._order[: size >> it])) for it in _HEAD_SHIFTS]

    def _move_up(self, ordinal: int) -> None:
        """Move it to where its increased count belongs."""
        order, at, ids, ranks = self._order, self._order_at, self._id_at, self.ranks.data
        counts, old = self._seen.data, self._position_at[ordinal]
        if not len(at) or at[old] != ordinal:  # It is dead.
            return
        wanted = (-counts[ids[ordinal]], ranks[ordinal])
        new = bisect_left(range(old), wanted, key=lambda it: (-counts[ids[at[it]]], ranks[at[it]]))
        order[new + 1 : old + 1] = order[new:old].copy()
        order[new] = ordinal
        self._position[order[new : old + 1]] = np.arange(new, old + 1)
        self._ids_in_order[new : old + 1] = self.ids[order[new : old + 1]]
        if any(new < len(order) >> it <= old for it in _HEAD_SHIFTS):
            self._set_heads()
        self._counted.append(ordinal)
