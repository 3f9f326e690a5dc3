"""Popularity: the order by downloads, then scope, then name, and windows of it.

Exact at every request up to 10,000 widgets; above that it may lag the counts by half a
minute. Sorting what is nearly in order costs little, and the next order nearly is.
"""

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .ordinals import Array, Marks, OrdinalSet
from .revision import Counts

_EXACT_UP_TO = 10_000
_LAG_S = 30.0


class Place(NamedTuple):
    """Where a widget goes by name: in the place of an ordinal, or just after one."""

    widget_id: int
    replaced: int | None
    before: int | None


class Popularity:
    """`_order` holds the live ordinals, most popular first; `_position` is its inverse."""

    def __init__(self, counts: Counts, ids: Array, ids_by_name: Array) -> None:
        """Begin with these widgets: their numbers by ordinal, and in the order of names."""
        self._counts = counts
        self._ids = ids
        rank_of_id = np.zeros(ids_by_name.max(initial=0) + 1, dtype=np.int64)
        rank_of_id[ids_by_name] = np.arange(len(ids_by_name))
        self._rank: Array = rank_of_id[self._ids]
        self._order: Array = np.arange(len(self._ids))
        self._sort()

    def add(self, places: Sequence[Place]) -> None:
        """Give the next ordinals to these widgets, which come in the order of names."""
        old_size = len(self._ids)
        # Where a new one goes among the old ranks, and who it is; behind another new one: there.
        slots: list[int] = []
        new: list[int] = []
        ranks = np.zeros(len(places), dtype=np.int64)
        for i, (_, replaced, before) in enumerate(places):
            if replaced is not None:
                ranks[i] = self._rank[replaced]
                continue
            if before is None:
                slot = 0
            elif before < old_size:
                slot = int(self._rank[before]) + 1
            else:
                behind = before - old_size
                slot = int(ranks[behind]) + (places[behind].replaced is not None)
            ranks[i] = slot
            slots.append(slot)
            new.append(i)
        self._ids = np.append(self._ids, np.array([it.widget_id for it in places], np.int64))
        self._rank = np.append(self._rank, ranks)
        self._order = np.append(self._order, np.arange(old_size, len(self._ids)))
        # Everybody moves on by how many new ones come before; those by their own number.
        self._rank += np.searchsorted(slots, self._rank, side="right")
        self._rank[[old_size + i for i in new]] = np.add(slots, np.arange(len(slots)))

    def settle(self, live: Marks) -> None:
        """Let the dead go and put the new ones in their places."""
        self._order = self._order[live[self._order]]
        self._sort()

    @property
    def is_current(self) -> bool:
        """Whether this is the order of the counts as they are now."""
        return self._counts.revision() == self._revision

    def refresh(self) -> None:
        """Follow the counts, if they moved and it is time."""
        if self.is_current:
            return
        is_exact = len(self._order) <= _EXACT_UP_TO
        if is_exact or time.monotonic() - self._refreshed_at > _LAG_S:
            self._sort()

    def window(self, among: OrdinalSet, start: int, stop: int) -> list[int]:
        """The ordinals at these places of the order, when only some take part in it."""
        taking_part = len(among)
        if taking_part == len(self._order):
            return list(self._order[start:stop].tolist())
        # Either walk down the order until enough are met, or sort those that take part. The walk
        # is short unless few take part, or just the least popular: then it is given up.
        walked = self._walk(among, stop, len(self._order) // 64 + taking_part)
        if walked is not None:
            return walked[start:stop]
        positions = self._position[among.to_array()]
        if stop < taking_part:
            positions = np.partition(positions, stop)[:stop]
        positions.sort()
        return list(self._order[positions[start:stop]].tolist())

    def _walk(self, among: OrdinalSet, stop: int, most: int) -> list[int] | None:
        """The first ones of the order that take part; None if it takes more steps than that."""
        met: list[int] = []
        step = 2 * stop * len(self._order) // len(among) + 16
        for at in range(0, most - step, step):
            met += among.among(self._order[at : at + step]).tolist()
            if len(met) >= stop:
                return met
        return None

    def _sort(self) -> None:
        self._revision = self._counts.revision()
        self._refreshed_at = time.monotonic()
        counts = self._counts.array[self._ids[self._order]].astype(np.int64)
        rank = self._rank[self._order]
        most, ranks = int(counts.max(initial=0)), int(rank.max(initial=0)) + 1
        if most * ranks < 1 << 62:
            sorting = np.argsort((most - counts) * ranks + rank, kind="stable")
        else:
            sorting = np.lexsort((rank, -counts))
        self._order = self._order[sorting]
        self._position = np.empty(len(self._ids), dtype=np.int64)
        self._position[self._order] = np.arange(len(self._order))
