"""Facets: other filters and sort keys than words: SDK, permission, time, exact name."""

from collections.abc import Collection, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from pyroaring import BitMap

from widget_contract.semver import SemVer, is_compatible

from ..replica.ordinals import Array, Groups, Rows, radix_argsort, set_of
from ..replica.rows import FACET_SEPARATOR, Listing, ListingColumns
from .texts import Texts


class FacetParts(NamedTuple):
    """The components of `Facets`, as flat arrays: times by ordinal, sorted names and their
    ordinals, and groups by SDK range, by permission and by keyword.
    """

    created_ms: Array
    released_ms: Array
    names: Array
    name_starts: Array
    named: Array
    ranges: Array
    range_starts: Array
    ranged: Array
    ranged_starts: Array
    permissions: Array
    permission_starts: Array
    permitted: Array
    permitted_starts: Array
    keywords: Array
    keyword_starts: Array
    described: Array
    described_starts: Array


class FacetsBuilder:
    def __init__(self) -> None:
        self._created, self._released = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        self._names: list[str] = []
        self._ranges: list[str] = []
        self._permissions: list[str] = []
        self._keywords: list[str] = []

    def add(self, some: ListingColumns) -> None:
        self._created.append(some.created_ms)
        self._released.append(some.released_ms)
        self._names += some.names
        self._ranges += some.sdk_ranges
        self._permissions += some.permissions
        self._keywords += [it.replace(" ", FACET_SEPARATOR) for it in some.terms]

    def build(self) -> FacetParts:
        return FacetParts(
            np.concatenate(self._created),
            np.concatenate(self._released),
            *_in_order(self._names),
            *_grouped(self._ranges),
            *_grouped(self._permissions),
            *_grouped(self._keywords),
        )


class Facets:
    def __init__(self, parts: FacetParts) -> None:
        self._times = [parts.created_ms, parts.released_ms]
        self._new_times: list[list[int]] = [[], []]
        self._names = Texts(parts.names, parts.name_starts)
        self._named = parts.named
        self._new_names: dict[str, list[int]] = {}
        self._ranges = _groups(*parts[5:9])
        self._permissions = _groups(*parts[9:13])
        self.keywords = _groups(*parts[13:17])
        self._admitting: dict[SemVer, list[str]] = {}

    def add(self, row: Listing, ordinal: int) -> None:
        """Add the widget with the next ordinal."""
        self._new_times[0].append(row.created_ms)
        self._new_times[1].append(row.released_ms)
        self._new_names.setdefault(row.name, []).append(ordinal)
        for group, joined in ((self._ranges, row.sdk_ranges), (self._permissions, row.permissions)):
            for item in _items(joined):
                group.add(item, ordinal)
        for keyword in row.terms.split():
            self.keywords.add(keyword, ordinal)
        self._admitting.clear()

    def created_ms(self) -> Array:
        return self._time(0)

    def released_ms(self) -> Array:
        return self._time(1)

    def named(self, name: str) -> BitMap:
        """Widgets with this name in their scope."""
        wanted = name.encode()
        # No text contains a NUL.
        first, last = self._names.bisect(wanted), self._names.bisect(wanted + b"\0")
        found = set_of(self._named[first:last])
        found.update(self._new_names.get(name, ()))
        return found

    def list_names(self, most: int) -> tuple[list[str], list[int]]:
        """At most about this many names, and their ordinals."""
        names = [it.decode() for it in self._names[:most]]
        new = [(name, it) for name, some in self._new_names.items() for it in some]
        return [*names, *(it[0] for it in new)], [
            *self._named[: len(names)].tolist(),
            *(it[1] for it in new),
        ]

    def permitted(self, permission: str) -> BitMap:
        """Widgets whose latest version needs this permission."""
        return self._permissions.of(permission)

    def running_on(self, sdk: SemVer) -> BitMap:
        """Widgets with a version, not yanked, that admits this SDK."""
        ranges = self._admitting.get(sdk)
        if ranges is None:
            if len(self._admitting) >= _REMEMBERED_SDKS:
                self._admitting.clear()
            ranges = [it for it in self._ranges.names() if is_compatible(it, sdk)]
            self._admitting[sdk] = ranges
        return BitMap.union(BitMap(), *map(self._ranges.of, ranges))

    def permissions(self, among: BitMap) -> list[str]:
        """The permissions that any of these need, most frequent first."""
        of = self._permissions.of
        few = self._permissions.names()[:_MAX_PERMISSIONS]
        counts = {name: of(name).intersection_cardinality(among) for name in few}
        return sorted((name for name, n in counts.items() if n), key=lambda it: (-counts[it], it))

    def _time(self, which: int) -> Array:
        if self._new_times[which]:
            self._times[which] = np.append(self._times[which], self._new_times[which])
            self._new_times[which] = []
        return self._times[which]


_REMEMBERED_SDKS = 64
_MAX_PERMISSIONS = 200


def _items(joined: str) -> Collection[str]:
    return joined.split(FACET_SEPARATOR) if joined else ()


def _in_order(names: Sequence[str]) -> tuple[Array, Array, Array]:
    order = sorted(range(len(names)), key=names.__getitem__)
    texts = Texts.of([names[i] for i in order])
    return texts.characters, texts.starts, np.array(order, dtype=np.uint32)


def _grouped(columns: Sequence[str]) -> tuple[Array, Array, Array, Array]:
    """The distinct items of all ordinals, and the ordinals of each."""
    numbers: dict[str, int] = {}
    # Most widgets have the same few, so each text is split only once.
    numbers_in = {
        joined: [numbers.setdefault(it, len(numbers)) for it in _items(joined)]
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
