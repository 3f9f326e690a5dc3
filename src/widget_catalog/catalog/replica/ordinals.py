"""Bulk operations on ordinals: sets, rows of numbers, and named groups."""

from array import array
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap

Array = npt.NDArray[Any]

_FEW = 32


def set_of(ordinals: Array) -> BitMap:
    """The set of these ordinals, in any order, possibly with duplicates."""
    few = len(ordinals) < _FEW
    return BitMap(ordinals.tolist()) if few else sorted_set(np.sort(ordinals))


def sorted_set(ordinals: Array | list[int]) -> BitMap:
    """The same for sorted ordinals, which are added five times as fast."""
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
        self._groups: Array | None = None
        self._highest = 0

    @staticmethod
    def members(names: Sequence[str]) -> tuple[list[str], Rows]:
        """The groups and their members; `names` has the group of every ordinal, in order."""
        numbers: defaultdict[str, int] = defaultdict()
        numbers.default_factory = numbers.__len__
        group = np.fromiter(map(numbers.__getitem__, names), np.int32, len(names))
        lengths = np.bincount(group, minlength=len(numbers))
        return list(numbers), Rows.of(radix_argsort(group).astype(np.uint32), lengths)

    def add(self, name: str, ordinal: int) -> None:
        self._recent.setdefault(name, []).append(ordinal)

    def names(self) -> list[str]:
        """The names of all groups, including those without members."""
        return [*self._numbers, *(it for it in self._recent if it not in self._numbers)]

    def of(self, name: str) -> BitMap:
        """The members of this group."""
        found = BitMap(self._recent.get(name, ()))
        number = self._numbers.get(name)
        return found if number is None else found | sorted_set(self._members.row(number))

    def counts(self, among: BitMap) -> list[tuple[str, int]]:
        """How many of these each group has, for those with any; most first, then by name."""
        members, names = self._members, self.names()
        if self._groups is None:
            numbers = np.arange(len(self._numbers), dtype=np.int32)
            self._groups = np.repeat(numbers, members.lengths())
            self._highest = int(members.items.max(initial=0))
        marks = np.zeros(max(self._highest, among.max() if among else 0) + 1, np.bool_)
        marks[members_of(among)] = True
        found = np.bincount(self._groups[marks[members.items]], minlength=len(names))
        for i in range(len(names)) if self._recent else ():
            found[i] += sum(it in among for it in self._recent.get(names[i], ()))
        some = np.flatnonzero(found).tolist()
        return sorted(((names[i], int(found[i])) for i in some), key=lambda it: (-it[1], it[0]))

    def count(self, among: BitMap) -> int:
        """How many groups have a member among these."""
        members = self._members
        marks = np.zeros(max(len(members.items), among.max() + 1 if among else 0), np.bool_)
        marks[members_of(among)] = True
        group = np.repeat(np.arange(len(self._numbers)), members.lengths())
        living = set(np.flatnonzero(np.bincount(group[marks[members.items]])).tolist())
        old = {name for name, number in self._numbers.items() if number in living}
        return len(old | {name for name, some in self._recent.items() if marks[some].any()})
