"""Facets: other filters and sort keys than words: SDK, permission, time, exact name."""

from collections.abc import Sequence
from itertools import chain

import numpy as np
from pyroaring import BitMap

from widget_contract.semver import SemVer, is_compatible

from ..model.query import FACETS, split_facets, split_values
from ..replica.ordinals import Array, Groups, Rows, radix_argsort, set_of
from ..replica.rows import IndexColumns, IndexRow
from .texts import Texts, list_around, start_alike

FacetParts = tuple[Array, ...]
"""The components of `Facets`, as flat arrays: times of creation and of release by ordinal; sorted
names (characters and starts) and their ordinals; for each facet its values (characters and starts)
and their members (ordinals and starts).
"""


class FacetsBuilder:
    def __init__(self) -> None:
        self._created, self._released = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        self._names: list[str] = []
        self._columns: list[list[str]] = [[] for _ in FACETS]

    def add(self, some: IndexColumns) -> None:
        self._created.append(some.created_ms)
        self._released.append(some.released_ms)
        self._names += some.names
        columns = zip(*map(split_facets, some.facets), strict=True)
        # Of no widgets there are no columns.
        for column, values in zip(self._columns, columns, strict=False):
            column += values

    def build(self) -> FacetParts:
        grouped = chain.from_iterable(map(_grouped, self._columns))
        times = np.concatenate(self._created), np.concatenate(self._released)
        return *times, *_in_order(self._names), *grouped


class Facets:
    def __init__(self, parts: FacetParts) -> None:
        created, released, names, name_starts, self._named, *grouped = parts
        self._times = [created, released]
        self._new_times: list[list[int]] = [[], []]
        self._names = Texts(names, name_starts)
        self._new_names: dict[str, list[int]] = {}
        self.groups = {it: _groups(*grouped[4 * n : 4 * n + 4]) for n, it in enumerate(FACETS)}
        """By facet and value, the widgets that have it."""
        self._admitting: dict[SemVer, list[str]] = {}

    def add(self, row: IndexRow, ordinal: int) -> None:
        """Add the widget with the next ordinal."""
        self._new_times[0].append(row.created_ms)
        self._new_times[1].append(row.released_ms)
        self._new_names.setdefault(row.name, []).append(ordinal)
        for group, joined in zip(self.groups.values(), split_facets(row.facets), strict=True):
            for value in split_values(joined):
                group.add(value, ordinal)
        self._admitting.clear()

    def created_ms(self) -> Array:
        return self._time(0)

    def released_ms(self) -> Array:
        return self._time(1)

    def named(self, name: str) -> BitMap:
        """Widgets with this name in their scope."""
        wanted, found = name.encode(), BitMap(self._new_names.get(name, ()))
        first = self._names.bisect(wanted)
        if first < len(self._names) and self._names[first] == wanted:
            # No text contains a NUL.
            found |= set_of(self._named[first : self._names.bisect(wanted + b"\0")])
        return found

    def list_around(self, name: str, most: int) -> list[tuple[str, int]]:
        """Names next to this one in the order of names, and their ordinals."""
        new = ((it, ordinal) for it, some in self._new_names.items() for ordinal in some)
        found = list_around(self._names, self._named, name, most)
        return found + start_alike(new, name, most)

    def running_on(self, sdk: SemVer) -> BitMap:
        """Widgets with a version, not yanked, that admits this SDK."""
        ranges = self._admitting.get(sdk)
        if ranges is None:
            if len(self._admitting) >= _REMEMBERED_SDKS:
                self._admitting.clear()
            ranges = [it for it in self.groups["sdk_range"].names() if is_compatible(it, sdk)]
            self._admitting[sdk] = ranges
        return BitMap.union(BitMap(), *map(self.groups["sdk_range"].of, ranges))

    def values(self, facet: str, among: BitMap) -> list[str]:
        """The values that any of these have, most frequent first."""
        group = self.groups[facet]
        few = group.names()[:_MAX_VALUES]
        counts = {name: group.of(name).intersection_cardinality(among) for name in few}
        return sorted((name for name, n in counts.items() if n), key=lambda it: (-counts[it], it))

    def _time(self, which: int) -> Array:
        if self._new_times[which]:
            self._times[which] = np.append(self._times[which], self._new_times[which])
            self._new_times[which] = []
        return self._times[which]


_REMEMBERED_SDKS = 64
_MAX_VALUES = 200


def _in_order(names: Sequence[str]) -> tuple[Array, Array, Array]:
    order = sorted(range(len(names)), key=names.__getitem__)
    texts = Texts.of([names[i] for i in order])
    return texts.characters, texts.starts, np.array(order, dtype=np.uint32)


def _grouped(columns: Sequence[str]) -> tuple[Array, Array, Array, Array]:
    """The distinct items of all ordinals, and the ordinals of each."""
    numbers: dict[str, int] = {}
    # Most widgets have the same few, so each text is split only once.
    numbers_in = {
        joined: [numbers.setdefault(it, len(numbers)) for it in split_values(joined)]
        for joined in dict.fromkeys(columns)
    }
    items = [numbers_in[it] for it in columns]
    lengths = np.fromiter(map(len, items), np.int64, len(items))
    group = np.fromiter(chain.from_iterable(items), np.int32)
    ordinals = np.repeat(np.arange(len(items), dtype=np.uint32), lengths)
    members = Rows.of(ordinals[radix_argsort(group)], np.bincount(group, minlength=len(numbers)))
    names = Texts.of(list(numbers))
    return names.characters, names.starts, members.items, members.starts


def _groups(names: Array, starts: Array, members: Array, member_starts: Array) -> Groups:
    return Groups([it.decode() for it in Texts(names, starts)], Rows(members, member_starts))
