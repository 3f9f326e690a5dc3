"""The in-memory search index: a query gives ordered widget numbers and the total.

Every listed widget has an *ordinal* here, given once: a widget that changes gets a new
one and its old one is dead, so that nothing need be taken out of the postings.
"""

import bisect
from array import array
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .cache import ByteBoundedCache
from .documents import Documents, ListingRow
from .ordinals import Groups, Marks, OrdinalsById, OrdinalSet, mark
from .popularity import Popularity
from .revision import Counts
from .words import WordsBuilder, end_of_prefix, normal

_REMEMBERED_BYTES = 24 << 20
_REBUILD_OVER = 2_000


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


class SearchIndex:
    """All listed widgets, to be found by words of their names and descriptions."""

    def __init__(
        self, documents: Documents, counts: Counts, rebuild_over: int = _REBUILD_OVER
    ) -> None:
        self._documents = documents
        self._counts = counts
        self._rebuild_over = rebuild_over
        self._build()

    def find(self, query: Query, offset: int, limit: int) -> tuple[list[int], int]:
        """The numbers of the widgets in this window of the results, and the total."""
        self._popularity.refresh()
        tiers = self._remembered.items.get(query)
        if tiers is None:
            tiers = self._tiers(query)
            self._remembered.put(query, tiers, sum(tier.size_bytes for tier in tiers))
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

    def update(self, widget_ids: Iterable[int]) -> None:
        """Take in what has become of these widgets."""
        changed = set(widget_ids)
        if len(self._ids) + len(changed) > len(self._live):
            self._build()
            return
        rows = self._documents.list_listings(list(changed))
        replaced = {row.id: self._ordinals.find(row.id) for row in rows}
        for widget_id in changed:
            old = self._ordinals.find(widget_id)
            if old is not None:
                self._live[old] = False
                self._ordinals.forget(widget_id)
        # By scope and name, so that whoever stands before a new widget has its place already.
        for row in sorted(rows, key=lambda row: (row.scope, row.name)):
            before = self._documents.find_id_before(row.scope, row.name)
            self._add(row)
            self._popularity.add(
                row.id, replaced[row.id], None if before is None else self._ordinals.find(before)
            )
        self._popularity.settle(self._live)
        self._remembered.clear()

    def _build(self) -> None:
        names, descriptions = WordsBuilder(), WordsBuilder()
        self._ids, self._version_counts = array("q"), array("i")
        scopes: list[str] = []
        official = [np.empty(0, np.bool_)]
        keys: list[str] = []
        for some in self._documents.stream_listings():
            self._ids.frombytes(some.ids.tobytes())
            self._version_counts.frombytes(some.version_counts.astype(np.int32).tobytes())
            scopes += some.scopes
            official.append(some.is_official)
            keys += names.add(some.display_names)
            descriptions.add(some.descriptions)
        size = len(self._ids)
        # Room for what comes later; when it is used up, all is built anew.
        capacity = (size + max(self._rebuild_over, size // 4) + 63) // 64 * 64
        self._live = np.arange(capacity) < size
        self._official = np.zeros(capacity, np.bool_)
        self._official[:size] = np.concatenate(official)
        self._scopes = Groups(scopes)
        self._names, self._descriptions = names.build(), descriptions.build()
        self._ordinals = OrdinalsById(self._ids)
        by_key = sorted(range(size), key=keys.__getitem__)
        self._sorted_keys = [keys[i] for i in by_key]
        self._sorted_ordinals = np.array(by_key, dtype=np.uint32)
        self._recent_keys: dict[int, str] = {}
        self._popularity = Popularity(self._counts, self._ids, self._documents.list_ids_by_name())
        self._remembered: ByteBoundedCache[Query, list[OrdinalSet]] = ByteBoundedCache(
            _REMEMBERED_BYTES
        )

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
        terms = set(query.text.split())
        # Longest first: the rarest come early, and what no widget has ends the work.
        for term in sorted(terms, key=lambda term: (-len(term), term)):
            starts = np.zeros_like(self._live)
            self._names.mark_starting(term, starts)
            starts_word &= OrdinalSet.of(starts)
            if any(term != other and term in other for other in terms):
                continue  # Whoever holds the other holds this one too.
            holds = np.zeros_like(self._live)
            self._names.mark_containing(term, holds)
            in_name &= OrdinalSet.of(holds)
            self._descriptions.mark_containing(term, holds)
            matching &= OrdinalSet.of(holds)
            if not len(matching):
                return [matching]
        equals, starts = np.zeros_like(self._live), np.zeros_like(self._live)
        self._mark_keys(query.text, equals, starts)
        is_name, starts_name = OrdinalSet.of(equals) & allowed, OrdinalSet.of(starts) & allowed
        nested = [is_name, starts_name, starts_word, in_name, matching]
        return [is_name, *(tier - better for better, tier in pairwise(nested))]

    def _allowed(self, query: Query) -> OrdinalSet:
        allowed = self._live.copy()
        if query.scope is not None:
            in_scope = np.zeros_like(allowed)
            self._scopes.mark(query.scope, in_scope)
            allowed &= in_scope
        if query.official is not None:
            allowed &= self._official if query.official else ~self._official
        return OrdinalSet.of(allowed)

    def _mark_keys(self, text: str, equals: Marks, starts: Marks) -> None:
        """Mark whose name the text is, and whose name starts with it."""
        first = bisect.bisect_left(self._sorted_keys, text)
        same = bisect.bisect_right(self._sorted_keys, text, lo=first)
        last = end_of_prefix(self._sorted_keys, text, same)
        mark(equals, self._sorted_ordinals[first:same])
        mark(starts, self._sorted_ordinals[first:last])
        for ordinal, key in self._recent_keys.items():
            if key.startswith(text):
                starts[ordinal] = True
                equals[ordinal] = key == text
