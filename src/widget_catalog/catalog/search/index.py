"""The in-memory search index: a query returns widget numbers in order, and the total.

Every listed widget has an *ordinal* here, assigned once: a changed widget gets a new one and its
old one is dead, so that nothing has to be removed from the postings.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from sys import getsizeof
from typing import NamedTuple

import numpy as np
from pyroaring import BitMap

from widget_contract.folding import fold

from ..query import Order, Query
from ..replica.cache import ByteBoundedCache
from ..replica.documents import Documents
from ..replica.ordinals import Array, Groups, Rows, members_of, set_of
from ..replica.revision import Counts
from ..replica.rows import Listing
from ..widgets import Totals
from .facets import Facets
from .parts import IndexParts, build_parts
from .popularity import Insertion, Mark, Popularity
from .texts import Texts
from .words import Words, label_words

_REMEMBERED_BYTES = 16 << 20
# Memory of three sets and their term, besides the members and the text.
_OVERHEAD_BYTES = 1_000
# Room for later changes: when it is used up, the index is rebuilt.
_REBUILD_OVER, _REBUILD_AT_LATEST = 2_000, 20_000
# More than this are not applied one by one, which would block all other requests.
_MAX_AT_ONCE = 2_000
# Limit of names that are compared with a text that matches nothing.
_MAX_COMPARED = 50_000


class Hits(NamedTuple):
    """The numbers of the widgets on a page, and the number of all results.

    If the order follows every count, `among` are those that could be on this page if they were
    more popular. The page shows those at `positions` of the order by popularity; with another
    order there are none.
    """

    ids: list[int]
    total: int
    among: BitMap
    positions: list[int]


class _Holders(NamedTuple):
    """The widgets that contain a term: anywhere, in their name, at the start of a word of it."""

    anywhere: BitMap
    in_name: BitMap
    starting_word: BitMap


class SearchIndex:
    """All listed widgets, searchable by words of their names and descriptions."""

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
        size = len(parts.ids)
        self._room = max(rebuild_over, min(size // 4, _REBUILD_AT_LATEST))
        self._all, self._gone = BitMap(range(size)), BitMap()
        self._official = set_of(np.flatnonzero(parts.is_official))
        scopes = [it.decode() for it in Texts(parts.scopes, parts.scope_starts)]
        self._scopes = Groups(scopes, Rows(parts.members, parts.member_starts))
        self._names, self._descriptions = Words(parts.names), Words(parts.descriptions)
        self._labels = Words(parts.labels)
        self._old_ids, self._old_version_counts = parts.ids.data, parts.version_counts.data
        # Additions and removals since the build.
        self._new_ordinals: dict[int, int | None] = {}
        self._new_version_counts: list[int] = []
        self._new_keys: list[str] = []
        self._versions = int(parts.version_counts.sum())
        self._keys = Texts(parts.keys, parts.key_starts)
        self._key_ordinals = parts.key_ordinals
        self._facets = Facets(parts.facets)
        self._places: Array | None = None
        self._popularity = Popularity(self._counts, parts.ids, parts.ranks)
        self._remembered: ByteBoundedCache[tuple[str, bool], _Holders] = ByteBoundedCache(
            _REMEMBERED_BYTES
        )
        self._scope_count: int | None = None

    def refresh(self) -> None:
        """Follow the counts. Call this before any query."""
        self._popularity.refresh()

    def find(self, query: Query, offset: int, limit: int) -> Hits:
        """The widgets in this window of the results."""
        terms, matching = self._matching(query)
        total = len(matching)
        if query.order not in (Order.RELEVANCE, Order.INSTALLS):
            return self._find_in_order(query.order, matching, offset, limit)
        tiers = [matching]
        if terms and query.order is Order.RELEVANCE:
            tiers = self._nested(query.text, terms, matching, offset)
        positions: list[int] = []
        before = 0
        better = tier = matching
        for tier in tiers if offset < total else ():
            size = len(tier) - before
            if size and offset < before + size:
                start = max(offset - before, 0)
                stop = min(start + limit - len(positions), size)
                rest = tier - better if before else tier
                positions += self._popularity.window(rest, start, stop)
                if len(positions) == limit:
                    break
            better, before = tier, len(tier)
        # A widget that is in none of the sets up to here cannot be on this page, however popular.
        among = tier if self.is_exact else BitMap()
        return Hits(self._popularity.ids_at(positions), total, among, positions)

    def _find_in_order(self, order: Order, matching: BitMap, offset: int, limit: int) -> Hits:
        """The same for an order that does not depend on popularity."""
        ordinals = members_of(matching).astype(np.int64)
        match order:
            case Order.NAME:
                keys = self._name_places()[ordinals]
            case Order.NEWEST:
                keys = -self._facets.created_ms()[ordinals]
            case _:
                keys = -self._facets.released_ms()[ordinals]
        stop = offset + limit
        if stop < len(keys) >> 2:  # Only those that may be in the window have to be sorted.
            is_early = keys <= np.partition(keys, stop)[stop]
            ordinals, keys = ordinals[is_early], keys[is_early]
        sorting = np.lexsort((self._popularity.ranks[ordinals], keys))
        shown = ordinals[sorting[offset:stop]].tolist()
        return Hits(self._popularity.ids_of(shown), len(matching), BitMap(), [])

    def _name_places(self) -> Array:
        """The position of each ordinal's name among all; a new one is between two old ones."""
        if self._places is None:
            self._places = np.empty(len(self._old_ids), np.float64)
            self._places[self._key_ordinals] = _first_of_equal(self._keys)
        new = self._new_keys[len(self._places) - len(self._old_ids) :]
        if new:
            # A name that no old widget has goes halfway between two; new ones are sorted among
            # themselves.
            names = sorted(set(self._new_keys))
            step = 0.5 / (len(names) + 1)
            order = {name: number * step for number, name in enumerate(names)}
            places = []
            for name in self._new_keys:
                at = self._keys.bisect(name.encode())
                is_old = at < len(self._keys) and self._keys[at] == name.encode()
                places.append(at if is_old else at - 0.75 + order[name])
            self._places = np.append(self._places[: len(self._old_ids)], places)
        return self._places

    def list_named(self, name: str) -> list[int]:
        """The numbers of the listed widgets of this name, in any scope, most popular first."""
        among = self._facets.named(name) & self._all
        return self._popularity.ids_at(self._popularity.window(among, 0, len(among)))

    def list_permissions(self) -> list[str]:
        return self._facets.permissions(self._all)

    def list_like(self, text: str, most: int) -> list[int]:
        """The numbers of listed widgets with names similar to this folded text."""
        from rapidfuzz import fuzz, process  # Few searches find nothing.

        keys = [it.decode() for it in self._keys[:_MAX_COMPARED]]
        own, named = self._facets.list_names(_MAX_COMPARED)
        texts = [*keys, *self._new_keys, *own]
        new = range(len(self._old_ids), len(self._old_ids) + len(self._new_keys))
        ordinals = [*self._key_ordinals[: len(keys)].tolist(), *new, *named]
        found = process.extract(text, texts, scorer=fuzz.WRatio, limit=4 * most, score_cutoff=72)
        living = dict.fromkeys(ordinals[at] for _, _, at in found if ordinals[at] in self._all)
        return self._popularity.ids_of(list(living)[:most])

    def mark(self, found: Hits) -> Mark:
        """To check later whether a result is still valid. Call this before the next refresh."""
        return self._popularity.mark(found.among, found.positions)

    def still_finds(self, mark: Mark) -> bool:
        """Whether `find` would return the same again; if the order is exact, with the
        same counts.
        """
        return self._popularity.holds(mark)

    @property
    def is_exact(self) -> bool:
        """Whether the order follows every count."""
        return self._popularity.is_exact

    def totals(self) -> Totals:
        if self._scope_count is None:
            self._scope_count = self._scopes.count(self._all)
        ids = self._popularity.ids[members_of(self._all)]
        downloads = int(self._counts.array[ids].sum())
        return Totals(len(ids), self._versions, self._scope_count, downloads)

    def has_room_for(self, changes: int) -> bool:
        """Whether this many widgets can still be added, and quickly."""
        return changes <= _MAX_AT_ONCE and len(self._new_keys) + changes <= self._room

    def rebuilt(self) -> "SearchIndex":
        return SearchIndex(self._documents, self._counts, self._rebuild_over)

    def update(self, widget_ids: Iterable[int]) -> None:
        """Apply the changes of these widgets, for which there must be room."""
        changed = set(widget_ids)
        # By scope and name, so that the predecessors of a new widget already have their positions.
        rows = sorted(
            self._documents.list_listings(list(changed)), key=lambda row: (row.scope, row.name)
        )
        replaced = {widget_id: self._find_ordinal(widget_id) for widget_id in changed}
        gone = [ordinal for ordinal in replaced.values() if ordinal is not None]
        self._gone.update(gone)
        for ordinal in gone:
            self._all.discard(ordinal)
            self._official.discard(ordinal)
            self._versions -= self._version_count(ordinal)
        self._new_ordinals |= dict.fromkeys(changed)
        places = []
        for row in rows:
            self._add(row)
            before = self._documents.find_id_before(row.scope, row.name)
            after = before and self._find_ordinal(before)
            places.append(Insertion(row.id, replaced[row.id], after))
        self._popularity.update(gone, places)
        self._remembered.clear()
        self._scope_count = None

    def _add(self, row: Listing) -> None:
        ordinal = len(self._old_ids) + len(self._new_keys)
        key = fold(row.display_name)
        self._new_keys.append(key)
        self._new_ordinals[row.id] = ordinal
        self._names.add(key, ordinal)
        self._descriptions.add(fold(row.description or ""), ordinal)
        self._labels.add(fold(label_words(row.label)), ordinal)
        self._new_version_counts.append(row.version_count)
        self._versions += row.version_count
        self._scopes.add(row.scope, ordinal)
        self._facets.add(row, ordinal)
        self._all.add(ordinal)
        if row.is_official:
            self._official.add(ordinal)

    def _find_ordinal(self, widget_id: int) -> int | None:
        if widget_id in self._new_ordinals:
            return self._new_ordinals[widget_id]
        ids = self._old_ids
        ordinal = bisect_left(ids, widget_id)
        return ordinal if ordinal < len(ids) and ids[ordinal] == widget_id else None

    def _version_count(self, ordinal: int) -> int:
        old = self._old_version_counts
        return old[ordinal] if ordinal < len(old) else self._new_version_counts[ordinal - len(old)]

    def _matching(self, query: Query) -> tuple[list[_Holders], BitMap]:
        """The widgets that contain each term, and all results."""
        matching = self._all
        if query.scope is not None:
            matching = matching & self._scopes.of(query.scope)
        if query.official is not None:
            is_in = query.official
            matching = matching & self._official if is_in else matching - self._official
        if query.runs_on is not None:
            matching = matching & self._facets.running_on(query.runs_on)
        if query.permission is not None:
            matching = matching & self._facets.permitted(query.permission)
        terms: list[_Holders] = []
        # Longest first: the rarest terms come early, and a term without matches ends the search.
        for term in sorted(set(query.text.split()), key=len, reverse=True):
            holders = self._holders(term, query.with_labels)
            terms.append(holders)
            matching = holders.anywhere if matching is self._all else matching & holders.anywhere
            if not matching:
                break
        return terms, matching

    def _holders(self, term: str, with_labels: bool) -> _Holders:
        found = self._remembered.items.get((term, with_labels))
        if found is None:
            in_name, starting = self._names.find(term)
            anywhere = in_name | self._descriptions.containing(term)
            if with_labels:
                anywhere |= self._labelled(term)
            if self._gone:
                anywhere, in_name, starting = (
                    it - self._gone for it in (anywhere, in_name, starting)
                )
            # For a complete word they are usually the same, which saves an intersection.
            found = _Holders(anywhere, in_name, in_name if starting == in_name else starting)
            size = sum(map(getsizeof, found)) + 4 * len(term) + _OVERHEAD_BYTES
            self._remembered.put((term, with_labels), found, size)
        return found

    def _labelled(self, term: str) -> BitMap:
        """The widgets whose label has every word of the term."""
        sets = [self._labels.containing(it) for it in label_words(term).split()]
        return BitMap.intersection(*sets) if sets else BitMap()

    def _nested(
        self, text: str, terms: Sequence[_Holders], matching: BitMap, offset: int
    ) -> list[BitMap]:
        """The results as sets, best first, each including those before it. Inside them, popularity
        decides.

        Of the sets before the offset, only the largest is computed.
        """
        in_name = matching
        for it in terms:
            in_name = in_name & it.in_name
        if not in_name:
            return [matching]
        tiers = [in_name, matching]
        if offset >= len(in_name):
            return tiers
        starting_word = in_name
        for it in terms:
            if it.starting_word is not it.in_name:
                starting_word = starting_word & it.starting_word
        tiers.insert(0, starting_word)
        if offset >= len(starting_word) or len(starting_word) == 1:
            return tiers
        return [keys & starting_word for keys in self._keys_like(text)] + tiers

    def _keys_like(self, text: str) -> list[BitMap]:
        """Widgets whose name is the text, and whose name starts with it, if any."""
        wanted = text.encode()
        first, last = self._keys.starting_with(wanted)
        new = [
            ordinal
            for ordinal, key in enumerate(self._new_keys, len(self._old_ids))
            if key.startswith(text)
        ]
        if first == last and not new:
            return []
        between = self._keys.bisect(wanted + b"\0")  # No text contains a NUL.
        equal = [it for it in new if self._new_keys[it - len(self._old_ids)] == text]
        is_name, starts_name = (set_of(self._key_ordinals[first:it]) for it in (between, last))
        is_name.update(equal)
        starts_name.update(new)
        return [is_name, starts_name]


def _first_of_equal(keys: Sequence[bytes]) -> Array:
    """The position of each sorted key; of equal ones, the first."""
    places = np.arange(len(keys), dtype=np.float64)
    for i in range(1, len(keys)):
        if keys[i] == keys[i - 1]:
            places[i] = places[i - 1]
    return places
