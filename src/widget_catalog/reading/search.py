"""The in-memory search index: a query gives ordered widget numbers and the total.

Every listed widget has an *ordinal* here, given once: a widget that changes gets a new
one and its old one is dead, so that nothing need be taken out of the postings.
"""

import bisect
from array import array
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap

from .documents import Documents, ListingRow
from .popularity import Popularity
from .revision import Counts
from .words import WordsBuilder, normal

_REMEMBERED_QUERIES = 256
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


class SearchIndex:
    """All listed widgets, to be found by words of their names and descriptions."""

    def __init__(self, documents: Documents, counts: Counts) -> None:
        self._documents = documents
        self._counts = counts
        self._build()

    def find(self, query: Query, offset: int, limit: int) -> tuple[list[int], int]:
        """The numbers of the widgets in this window of the results, and the total."""
        self._popularity.refresh()
        tiers = self._remembered.get(query)
        if tiers is None:
            tiers = self._tiers(query)
            while len(self._remembered) >= _REMEMBERED_QUERIES:
                self._remembered.pop(next(iter(self._remembered)))
            self._remembered[query] = tiers
        ordinals: list[int] = []
        before = 0
        for tier in tiers:
            size = len(tier)
            start = max(offset - before, 0)
            if start < size and len(ordinals) < limit:
                stop = start + limit - len(ordinals)
                ordinals += self._popularity.window(tier, start, min(stop, size))
            before += size
        ids = self._ids
        return [ids[ordinal] for ordinal in ordinals], before

    def totals(self) -> Totals:
        live = self._live_mask()
        return Totals(
            widgets=len(self._live),
            versions=int(np.array(self._version_counts)[live].sum()),
            scopes=sum(1 for ordinals in self._scopes.values() if ordinals.intersect(self._live)),
        )

    def downloads(self) -> int:
        """The downloads of all listed widgets."""
        return int(self._counts.array[np.array(self._ids)[self._live_mask()]].sum())

    def update(self, widget_ids: Iterable[int]) -> None:
        """Take in what has become of these widgets."""
        changed = set(widget_ids)
        dead = len(self._ids) - len(self._live)
        if len(changed) + dead > max(_REBUILD_OVER, len(self._live) // 4):
            self._build()
            return
        rows = sorted(self._documents.list_listings(list(changed)), key=lambda row: row[1:3])
        replaced = {row.id: self._ordinals[row.id] for row in rows if row.id in self._ordinals}
        for widget_id in changed:
            old = self._ordinals.pop(widget_id)
            if old is not None:
                self._live.discard(old)
        for row in rows:
            self._add(row)
            self._popularity.add(row.id, replaced.get(row.id), self._rank_before(row))
        self._popularity.settle(self._live)
        self._remembered.clear()

    def _rank_before(self, row: ListingRow) -> int | None:
        """The ordinal of the widget that stands just before this one by scope and name."""
        before = self._documents.find_id_before(row.scope, row.name)
        return None if before is None else self._ordinals[before]

    def _build(self) -> None:
        self._ids = array("q")
        self._version_counts = array("i")
        keys: list[str] = []
        names, descriptions = WordsBuilder(), WordsBuilder()
        scopes: dict[str, array[int]] = {}
        official = array("I")
        for ordinal, row in enumerate(self._documents.stream_listings()):
            key = normal(row.display_name)
            names.add(key)
            descriptions.add(normal(row.description))
            keys.append(key)
            self._ids.append(row.id)
            self._version_counts.append(row.version_count)
            scopes.setdefault(row.scope, array("I")).append(ordinal)
            if row.is_official:
                official.append(ordinal)
        self._names, self._descriptions = names.build(), descriptions.build()
        self._ordinals = OrdinalsById(self._ids)
        self._scopes = {scope: BitMap(ordinals) for scope, ordinals in scopes.items()}
        self._official = BitMap(official)
        self._live = BitMap(range(len(self._ids)))
        by_key = sorted(range(len(keys)), key=keys.__getitem__)
        self._sorted_keys = [keys[i] for i in by_key]
        self._sorted_ordinals = np.array(by_key, dtype=np.uint32)
        self._recent_keys: dict[int, str] = {}
        self._popularity = Popularity(self._counts, self._ids, self._documents.list_ids_by_name())
        self._remembered: dict[Query, list[BitMap]] = {}

    def _add(self, row: ListingRow) -> None:
        ordinal = len(self._ids)
        key = normal(row.display_name)
        self._ids.append(row.id)
        self._ordinals[row.id] = ordinal
        self._names.add(key, ordinal)
        self._descriptions.add(normal(row.description), ordinal)
        self._recent_keys[ordinal] = key
        self._version_counts.append(row.version_count)
        self._scopes.setdefault(row.scope, BitMap()).add(ordinal)
        if row.is_official:
            self._official.add(ordinal)
        self._live.add(ordinal)

    def _tiers(self, query: Query) -> list[BitMap]:
        """The results as sets, best first; inside each, popularity decides."""
        allowed = self._allowed(query)
        if not query.text:
            return [allowed]
        matching, in_name, starts_word = allowed, allowed, allowed
        for term in query.text.split():
            name = self._names.hits(term)
            in_name = in_name & name.containing
            starts_word = starts_word & name.starting
            matching = matching & (name.containing | self._descriptions.hits(term).containing)
        starts, equals = self._keys(query.text)
        nested = [equals & allowed, starts & allowed, starts_word, in_name, matching]
        tiers = [nested[0]]
        for better, tier in pairwise(nested):
            tiers.append(tier - better)
        return tiers

    def _allowed(self, query: Query) -> BitMap:
        allowed = self._live
        if query.scope is not None:
            allowed = allowed & self._scopes.get(query.scope, BitMap())
        if query.official is not None:
            allowed = allowed & self._official if query.official else allowed - self._official
        return allowed

    def _keys(self, text: str) -> tuple[BitMap, BitMap]:
        """Whose name starts with this text, and whose name it is."""
        first = bisect.bisect_left(self._sorted_keys, text)
        same = bisect.bisect_right(self._sorted_keys, text, lo=first)
        last = bisect.bisect_left(self._sorted_keys, text + "\U0010ffff", lo=same)
        equals = BitMap(self._sorted_ordinals[first:same])
        starts = BitMap(self._sorted_ordinals[first:last])
        for ordinal, key in self._recent_keys.items():
            if key.startswith(text):
                starts.add(ordinal)
                if key == text:
                    equals.add(ordinal)
        return starts, equals

    def _live_mask(self) -> npt.NDArray[np.bool_]:
        mask = np.zeros(len(self._ids), dtype=np.bool_)
        mask[self._live.to_array()] = True
        return mask


class OrdinalsById:
    """A mapping from widget number to ordinal, as a flat array: a dict of a million is 100 MB."""

    def __init__(self, ids: Sequence[int]) -> None:
        self._ordinals = np.full(max(ids, default=0) + 1, -1, dtype=np.int32)
        self._ordinals[np.array(ids, dtype=np.int64)] = np.arange(len(ids), dtype=np.int32)

    def __contains__(self, widget_id: int) -> bool:
        return widget_id < len(self._ordinals) and self._ordinals[widget_id] >= 0

    def __getitem__(self, widget_id: int) -> int:
        return int(self._ordinals[widget_id])

    def __setitem__(self, widget_id: int, ordinal: int) -> None:
        missing = widget_id + 1 - len(self._ordinals)
        if missing > 0:
            room = np.full(missing + 1024, -1, dtype=np.int32)
            self._ordinals = np.concatenate((self._ordinals, room))
        self._ordinals[widget_id] = ordinal

    def pop(self, widget_id: int) -> int | None:
        if widget_id not in self:
            return None
        ordinal = self[widget_id]
        self._ordinals[widget_id] = -1
        return ordinal
