"""Bulk operations on ordinals: sets, rows of numbers, and named groups."""

from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from sys import getsizeof
from typing import Any

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap

from .cache import ByteBoundedCache

Array = npt.NDArray[Any]

_FEW = 32
# Of more members than this, a quarter as many are enough to know the largest groups.
_SAMPLED = 2_000
_REMEMBERED_BYTES = 4 << 20
# Up to this many are counted faster without numpy.
_VERY_FEW = 100


def set_of(ordinals: Array) -> BitMap:
    """The set of these ordinals, in any order, possibly with duplicates."""
    few = len(ordinals) < _FEW
    return BitMap(ordinals.tolist()) if few else sorted_set(np.sort(ordinals))


def sorted_set(ordinals: Array | list[int]) -> BitMap:
    """The set of sorted ordinals, which are added five times as fast as others."""
    if isinstance(ordinals, list):
        return BitMap(array("I", ordinals))
    return BitMap(array("I", ordinals.astype(np.uint32, copy=False).tobytes()))


def members_of(ordinals: BitMap) -> Array:
    """The members of a set, in order."""
    return np.asarray(ordinals.to_array())


class Rows:
    """Lists of numbers, stored contiguously: row i is `items[starts[i]:starts[i + 1]]`."""

    def __init__(self, items: Array, starts: Array) -> None:
        self.items = items
        self.starts = starts

    @staticmethod
    def of(items: Array, lengths: Array) -> "Rows":
        return Rows(items, np.concatenate(([0], np.cumsum(lengths))))

    def length(self, i: int) -> int:
        return int(self.starts[i + 1] - self.starts[i])

    def row(self, i: int) -> Array:
        return self.items[self.starts[i] : self.starts[i + 1]]

    def each(self, rows: Array) -> list[Array]:
        """These rows, one by one."""
        begins, ends = self.starts[rows].tolist(), self.starts[rows + 1].tolist()
        return [self.items[begin:end] for begin, end in zip(begins, ends, strict=True)]

    def rows(self, first: int, last: int) -> Array:
        """The items of all rows from `first` up to, not including, `last`."""
        return self.items[self.starts[first] : self.starts[last]]

    def gather(self, rows: Array) -> Array:
        """The items of these rows."""
        rows = rows.astype(np.intp, copy=False)
        begins = self.starts[rows]
        lengths = self.starts[rows + 1] - begins
        shift = np.repeat(begins - np.cumsum(lengths) + lengths, lengths)
        return self.items[shift + np.arange(len(shift))]

    def lengths(self) -> Array:
        return np.diff(self.starts)


def radix_argsort(numbers: Array) -> Array:
    """A stable argsort in two passes of 16 bits, where numpy sorts by radix: 5x as fast."""
    low = np.argsort((numbers & 0xFFFF).astype(np.uint16), kind="stable")
    high = np.argsort((numbers >> 16).astype(np.uint16)[low], kind="stable")
    return low[high]


class Groups:
    """Named groups of ordinals, such as the widgets of each scope."""

    def __init__(self, names: Sequence[str], members: Rows) -> None:
        """The members of the group with a name are in the row of the same number."""
        self._numbers = {name: number for number, name in enumerate(names)}
        self._members = members
        self._recent: dict[str, list[int]] = {}
        # For `largest`, until there is a new name.
        self._places: Rows | None = None
        self._sorted: list[str] = []
        self._is_single = False
        self._sets: ByteBoundedCache[str, BitMap] = ByteBoundedCache(_REMEMBERED_BYTES)

    @staticmethod
    def members(names: Sequence[str]) -> tuple[list[str], Rows]:
        """The groups and their members; `names` has the group of every ordinal, in order."""
        numbers: defaultdict[str, int] = defaultdict()
        numbers.default_factory = numbers.__len__
        group = np.fromiter(map(numbers.__getitem__, names), np.int32, len(names))
        lengths = np.bincount(group, minlength=len(numbers))
        return list(numbers), Rows.of(radix_argsort(group).astype(np.uint32), lengths)

    def add(self, name: str, ordinal: int) -> None:
        if name not in self._recent and name not in self._numbers:
            self._places = None
        self._sets.drop(name)
        self._recent.setdefault(name, []).append(ordinal)

    def names(self) -> list[str]:
        """The names of all groups, including those without members."""
        return [*self._numbers, *(it for it in self._recent if it not in self._numbers)]

    def of(self, name: str) -> BitMap:
        """The members of this group."""
        found = BitMap(self._recent.get(name, ()))
        number = self._numbers.get(name)
        return found if number is None else found | sorted_set(self._members.row(number))

    def largest(self, among: BitMap, most: int) -> tuple[list[tuple[str, int]], int]:
        """The groups with the most members among these, and how many; equal ones by name. And the
        number of all groups with any.
        """
        counts = self._counts(among)
        return self._largest_of(counts, most), int(np.count_nonzero(counts))

    def _largest_of(self, counts: Array, most: int) -> list[tuple[str, int]]:
        # How many have each count, and at least that: the least count that is shown.
        at_least = np.bincount(counts)[::-1].cumsum()
        least = len(at_least) - 1 - int(at_least.searchsorted(most))
        places = np.flatnonzero(counts >= max(least, 1))
        counts = counts[places]
        order = np.argsort(-counts, kind="stable")[:most]
        each = zip(places[order].tolist(), counts[order].tolist(), strict=True)
        return [(self._sorted[place], count) for place, count in each]

    def frequent(self, among: BitMap, most: int) -> list[tuple[str, int]]:
        """The largest groups with their counts, without the number of all. Of many members only
        some decide which groups are shown; the counts are exact.
        """
        if self._places is None:
            self._places_in(np.empty(0, np.int64))
        if len(among) <= _VERY_FEW and not self._recent and self._places is not None:
            items, starts = self._places.items.data, self._places.starts.data
            members: Sequence[int] = among.to_array()
            if members and members[-1] >= len(starts) - 1:  # The last ones may have no groups.
                members = [it for it in members if it < len(starts) - 1]
            if self._is_single:
                places = [items[it] for it in members]
            else:
                places = [place for it in members for place in items[starts[it] : starts[it + 1]]]
            few = sorted([(-count, place) for place, count in Counter(places).items()])[:most]
            return [(self._sorted[place], -count) for count, place in few]
        if len(among) <= _SAMPLED or self._is_single:
            return self._largest_of(self._counts(among), most)
        ordinals = members_of(among)
        sample = self._places_in(ordinals[:: len(ordinals) * 4 // _SAMPLED])
        sampled, counts = np.unique(sample, return_counts=True)
        often = sampled[np.argsort(-counts)[: most + most // 2]].tolist()
        some = [self._sorted[it] for it in often]
        counted = [(it, self._count_in(it, among)) for it in {*some, *self._recent}]
        ordered = sorted(counted, key=lambda it: (-it[1], it[0]))[:most]
        return [it for it in ordered if it[1]]

    def _count_in(self, name: str, among: BitMap) -> int:
        members = self._sets.items.get(name)
        if members is None:
            members = self.of(name)
            self._sets.put(name, members, getsizeof(members) + len(name))
        return members.intersection_cardinality(among)

    def _places_in(self, ordinals: Array) -> Array:
        """The places of the names of the groups of these, without recent ones."""
        if self._places is None:
            self._sorted = sorted(self.names())
            self._places = self._places_by_ordinal()
        places = self._places
        old, size = ordinals, len(places.starts) - 1
        if len(old) and old[-1] >= size:
            old = old[: np.searchsorted(old, size)]
        # Where each ordinal has exactly one group, as with scopes, that is a single step.
        return places.items[old] if self._is_single else places.gather(old)

    def _counts(self, among: BitMap) -> Array:
        """How many of these each group has, by the place of its name."""
        found = self._places_in(members_of(among))
        counts: Array = np.bincount(found, minlength=len(self._sorted))
        for name, recent in self._recent.items():
            counts[bisect_left(self._sorted, name)] += sum(it in among for it in recent)
        return counts

    def _places_by_ordinal(self) -> Rows:
        """The places of the groups of each ordinal among the sorted names."""
        places = {name: place for place, name in enumerate(self._sorted)}
        of_number = np.fromiter(map(places.__getitem__, self._numbers), np.int32)
        items = self._members.items
        of_item = np.repeat(of_number, self._members.lengths())
        lengths = np.bincount(items)
        self._is_single = bool((lengths == 1).all())
        return Rows.of(of_item[radix_argsort(items)], lengths)

    def count(self, among: BitMap) -> int:
        """How many groups have a member among these."""
        members = self._members
        marks = np.zeros(max(len(members.items), among.max() + 1 if among else 0), np.bool_)
        marks[members_of(among)] = True
        group = np.repeat(np.arange(len(self._numbers)), members.lengths())
        living = set(np.flatnonzero(np.bincount(group[marks[members.items]])).tolist())
        old = {name for name, number in self._numbers.items() if number in living}
        return len(old | {name for name, some in self._recent.items() if marks[some].any()})
