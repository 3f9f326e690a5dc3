"""Popularity: the order by downloads, then scope, then name, and windows of it.

Exact at every request up to 10,000 widgets; above that it may lag the counts by half a
minute. Sorting what is nearly in order costs little, and the next order nearly is.
"""

import time
from collections.abc import Sequence

import numpy as np

from .ordinals import Array, Marks, OrdinalSet
from .revision import Counts

_EXACT_UP_TO = 10_000
_LAG_S = 30.0


class Popularity:
    """`_order` holds the live ordinals, most popular first; `_position` is its inverse."""

    def __init__(self, counts: Counts, ids: Sequence[int], ids_by_name: Array) -> None:
        """Begin with these widgets: their numbers by ordinal, and in the order of names."""
        self._counts = counts
        self._ids: Array = np.array(ids, dtype=np.int64)
        rank_of_id = np.zeros(ids_by_name.max(initial=0) + 1, dtype=np.int64)
        rank_of_id[ids_by_name] = np.arange(len(ids_by_name))
        self._rank: Array = rank_of_id[self._ids]
        self._order: Array = np.arange(len(self._ids))
        self._sort()

    def add(self, widget_id: int, replaced: int | None, before: int | None) -> None:
        """Give the next ordinal to this widget: in the place of another, or after one by name."""
        if replaced is not None:
            rank = int(self._rank[replaced])
        else:
            rank = 0 if before is None else int(self._rank[before]) + 1
            self._rank[self._rank >= rank] += 1
        self._order = np.append(self._order, len(self._ids))
        self._ids = np.append(self._ids, widget_id)
        self._rank = np.append(self._rank, rank)

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
        # Either walk down the order until enough are met, or sort those that take part:
        # the first costs `stop / density` look-ups, the second grows with how many they are.
        if stop * len(self._order) < taking_part * (taking_part >> 3):
            return self._walk(among, start, stop)
        positions = self._position[among.to_array()]
        if stop < taking_part:
            positions = np.partition(positions, stop)[:stop]
        positions.sort()
        return list(self._order[positions[start:stop]].tolist())

    def _walk(self, among: OrdinalSet, start: int, stop: int) -> list[int]:
        met: list[int] = []
        step = 2 * stop * len(self._order) // len(among) + 16
        for at in range(0, len(self._order), step):
            met += among.among(self._order[at : at + step]).tolist()
            if len(met) >= stop:
                break
        return met[start:stop]

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
