"""The in-memory search index: a query gives ordered widget numbers and the total.

Every listed widget has an *ordinal* here, given once: a widget that changes gets a new
one and its old one is dead, so that nothing need be taken out of the postings.
"""

from array import array
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .cache import ByteBoundedCache
from .document_rows import ListingRow
from .documents import Documents
from .index_parts import IndexParts, build_parts
from .ordinals import Array, Groups, OrdinalsById, OrdinalSet, Rows
from .popularity import Place, Popularity
from .revision import Counts
from .texts import Texts
from .words import Words, normal

_REMEMBERED_BYTES = 24 << 20
# What five sets and their query take beside the bits and the text.
_OVERHEAD_BYTES = 2_000
_REBUILD_OVER = 2_000
# More than this are not taken in one by one: that would keep everybody else waiting.
_MOST_AT_ONCE = 2_000


class Query(NamedTuple):
    """What is searched for. The text is in normal form; an empty one matches all."""

    text: str = ""
    scope: str | None = None
    official: bool | None = None


class Totals(NamedTuple):
    widgets: int
    versions: int
    scopes: int
    downloads: int


def _size_of(query: Query, tiers: "list[OrdinalSet]") -> int:
    return _OVERHEAD_BYTES + 4 * len(query.text) + sum(tier.size_bytes for tier in tiers)


class SearchIndex:
    """All listed widgets, to be found by words of their names and descriptions."""

    def __init__(
        self,
        documents: Documents,
        counts: Counts,
        rebuild_over: int = _REBUILD_OVER,
        parts: IndexParts | None = None,
    ) -> None:
        self._documents = documents
        self._counts = counts
        self._rebuild_over = rebuild_over
        parts = parts or build_parts(documents)
        self._ids, self._version_counts = array("q"), array("i")
        self._ids.frombytes(parts.ids.tobytes())
        self._version_counts.frombytes(parts.version_counts.tobytes())
        size = len(self._ids)
        # Room for what comes later; when it is used up, all is built anew.
        capacity = (size + max(self._rebuild_over, size // 4) + 63) // 64 * 64
        self._live = np.arange(capacity) < size
        self._all = OrdinalSet.of(self._live)
        self._official = np.zeros(capacity, np.bool_)
        self._official[:size] = parts.is_official
        scopes = [it.decode() for it in Texts(parts.scopes, parts.scope_starts)]
        self._scopes = Groups(scopes, Rows(parts.members, parts.member_starts))
        self._names, self._descriptions = Words(parts.names), Words(parts.descriptions)
        self._ordinals = OrdinalsById(parts.ids)
        self._keys = Texts(parts.keys, parts.key_starts)
        self._key_ordinals = parts.key_ordinals
        self._recent_keys: dict[int, str] = {}
        self._popularity = Popularity(self._counts, parts.ids, parts.ids_by_name)
        self._remembered: ByteBoundedCache[Query, list[OrdinalSet]] = ByteBoundedCache(
            _REMEMBERED_BYTES
        )

    def find(self, query: Query, offset: int, limit: int) -> tuple[list[int], int]:
        """The numbers of the widgets in this window of the results, and the total."""
        self._popularity.refresh()
        tiers = self._remembered.items.get(query)
        if tiers is None:
            tiers = self._tiers(query)
            self._remembered.put(query, tiers, _size_of(query, tiers))
        ordinals: list[int] = []
        before = 0
        for tier in tiers:
            start = max(offset - before, 0)
            before += len(tier)
            if start < len(tier) and len(ordinals) < limit:
                stop = min(start + limit - len(ordinals), len(tier))
                ordinals += self._popularity.window(tier, start, stop)
        ids = self._ids
        return [ids[ordinal] for ordinal in ordinals], before

    @property
    def is_in_order(self) -> bool:
        """Whether results come in the order of the counts as they are now."""
        return self._popularity.is_current

    def totals(self) -> Totals:
        live = self._live
        ids = np.array(self._ids, dtype=np.int64)[live[: len(self._ids)]]
        return Totals(
            widgets=len(ids),
            versions=int(np.array(self._version_counts)[live[: len(self._ids)]].sum()),
            scopes=self._scopes.count(live),
            downloads=int(self._counts.array[ids].sum()),
        )

    def has_room_for(self, changes: int) -> bool:
        """Whether so many widgets can still be taken in, and quickly."""
        return changes <= _MOST_AT_ONCE and len(self._ids) + changes <= len(self._live)

    def rebuilt(self) -> "SearchIndex":
        """An index of everything as it is now."""
        return SearchIndex(self._documents, self._counts, self._rebuild_over)

    def update(self, widget_ids: Iterable[int]) -> None:
        """Take in what has become of these widgets, for which there must be room."""
        changed = set(widget_ids)
        # By scope and name, so that whoever stands before a new widget has its place already.
        rows = sorted(
            self._documents.list_listings(list(changed)), key=lambda row: (row.scope, row.name)
        )
        replaced = {widget_id: self._ordinals.find(widget_id) for widget_id in changed}
        for widget_id, old in replaced.items():
            if old is not None:
                self._live[old] = False
                self._ordinals.forget(widget_id)
        places = []
        for row in rows:
            self._add(row)
            before = self._documents.find_id_before(row.scope, row.name)
            places.append(Place(row.id, replaced[row.id], before and self._ordinals.find(before)))
        self._popularity.add(places)
        self._all = OrdinalSet.of(self._live)
        self._popularity.settle(self._live)
        self._remembered.clear()

    def _add(self, row: ListingRow) -> None:
        ordinal = len(self._ids)
        key = normal(row.display_name)
        self._ids.append(row.id)
        self._ordinals.set(row.id, ordinal)
        self._names.add(key, ordinal)
        self._descriptions.add(normal(row.description), ordinal)
        self._recent_keys[ordinal] = key
        self._version_counts.append(row.version_count)
        self._scopes.add(row.scope, ordinal)
        self._official[ordinal] = bool(row.is_official)
        self._live[ordinal] = True

    def _tiers(self, query: Query) -> list[OrdinalSet]:
        """The results as sets, best first; inside each, popularity decides."""
        allowed = self._allowed(query)
        if not query.text:
            return [allowed]
        in_name = starts_word = matching = allowed
        capacity = len(self._live)
        terms = set(query.text.split())
        # Longest first: the rarest come early, and what no widget has ends the work.
        for term in sorted(terms, key=lambda term: (-len(term), term)):
            starts_word &= self._names.starting(term, capacity)
            if any(term != other and term in other for other in terms):
                continue  # Whoever holds the other holds this one too.
            in_this_name = self._names.containing(term, capacity)
            in_name &= in_this_name
            matching &= in_this_name | self._descriptions.containing(term, capacity)
            if not len(matching):
                return [matching]
        is_name, starts_name = self._keys_like(query.text)
        nested = [is_name & allowed, starts_name & allowed, starts_word, in_name, matching]
        return [nested[0], *(tier - better for better, tier in pairwise(nested))]

    def _allowed(self, query: Query) -> OrdinalSet:
        allowed = self._all
        if query.scope is not None:
            allowed &= self._set_of(self._scopes.of(query.scope))
        if query.official is not None:
            official = OrdinalSet.of(self._official)
            allowed = allowed & official if query.official else allowed - official
        return allowed

    def _keys_like(self, text: str) -> tuple[OrdinalSet, OrdinalSet]:
        """Whose name the text is, and whose name starts with it."""
        recent = self._recent_keys.items()
        equal = self._keys.equal_to(text.encode())
        starting = self._keys.starting_with(text.encode())
        return (
            self._with_keys(equal, [it for it, key in recent if key == text]),
            self._with_keys(starting, [it for it, key in recent if key.startswith(text)]),
        )

    def _with_keys(self, between: tuple[int, int], recent: list[int]) -> OrdinalSet:
        first, last = between
        found = np.append(self._key_ordinals[first:last], np.array(recent, np.uint32))
        return self._set_of(found)

    def _set_of(self, ordinals: Array) -> OrdinalSet:
        return OrdinalSet.holding(ordinals, len(self._live))
