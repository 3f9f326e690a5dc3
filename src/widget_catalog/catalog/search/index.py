"""The in-memory search index: a query returns widget numbers in order, and the total.

Every listed widget has an *ordinal* here, assigned once: a changed widget gets a new one and its
old one is dead, so that nothing has to be removed from the postings.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence

import numpy as np
from pyroaring import BitMap

from widget_contract.texts import fold

from ..model.query import Order, Query
from ..model.tokens import query_tokens, replace_tokens
from ..model.widgets import Totals
from ..replica.ordinals import Groups, Rows, members_of, set_of
from ..replica.reader import ReplicaReader
from ..replica.revision import Counts
from ..replica.rows import IndexRow
from .facets import Facets
from .parts import IndexParts, build_parts
from .popularity import Insertion, Mark, Popularity
from .scoring import Hits, Holders, Matches, by_score
from .terms import Terms
from .texts import DisplayNames, Texts

# Room for later changes: when it is used up, the index is rebuilt.
_REBUILD_OVER, _REBUILD_AT_LATEST = 2_000, 20_000
# More than this are not applied one by one, which would block all other requests.
_MAX_AT_ONCE = 2_000
# With fewer results that have every word of a query, those with some of them follow.
_FEW = 10
_REMEMBERED_COUNTS = 64
_NO_FILTERS = (None, None, None, ())
# Keywords and scopes that are counted for a page.
_MAX_COUNTED = 12
# Names before and after an unknown one, in their order, that are compared with it.
_NEIGHBOURS = 50
_SIMILAR = 72


class SearchIndex:
    """All listed widgets, searchable by words of their names and descriptions."""

    def __init__(
        self,
        reader: ReplicaReader,
        counts: Counts,
        rebuild_over: int = _REBUILD_OVER,
        parts: IndexParts | None = None,
    ) -> None:
        self._reader = reader
        self._counts = counts
        self._rebuild_over = rebuild_over
        parts = parts or build_parts(reader)
        size = len(parts.ids)
        self._room = max(rebuild_over, min(size // 4, _REBUILD_AT_LATEST))
        self._all = BitMap(range(size))
        self._official = set_of(np.flatnonzero(parts.is_official))
        scopes = [it.decode() for it in Texts(parts.scopes, parts.scope_starts)]
        self._scopes = Groups(scopes, Rows(parts.members, parts.member_starts))
        self._terms = Terms(parts)
        self._old_ids, self._old_version_counts = parts.ids.data, parts.version_counts.data
        # Additions and removals since the build.
        self._new_ordinals: dict[int, int | None] = {}
        self._new_version_counts: list[int] = []
        self._versions = int(parts.version_counts.sum())
        names = Texts(parts.keys, parts.key_starts)
        self._display_names = DisplayNames(names, parts.key_ordinals)
        self._facets = Facets(parts.facets)
        self._popularity = Popularity(self._counts, parts.ids, parts.ranks)
        self._scope_count: int | None = None
        self._counted: dict[Query, Matches] = {}
        self._last_matched: tuple[Query, tuple[list[Holders], BitMap]] | None = None
        self._last_shown: dict[int, int] = {}

    def refresh(self) -> None:
        """Follow the counts. Call this before any query."""
        self._popularity.refresh()

    def find(self, query: Query, offset: int, limit: int) -> Hits:
        """The widgets in this window of the results."""
        terms, matching = self._matching(query)
        total, order = len(matching), query.order
        if order is not Order.RELEVANCE and order is not Order.INSTALLS:
            return self._find_in_order(order, matching, offset, limit)
        tiers = [matching] if offset < total else []
        if terms and order is Order.RELEVANCE:
            if query.is_ranked:
                return self._find_by_score(terms, matching, offset, limit)
            if tiers:
                tiers = self._nested(query, terms, matching, offset)
        positions: list[int] = []
        before = 0
        better = tier = matching
        for tier in tiers:
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
        among = tier if self._popularity.is_exact else BitMap()
        return Hits(self._popularity.ids_at(positions), total, among, positions)

    def _find_by_score(
        self, terms: Sequence[Holders], matching: BitMap, offset: int, limit: int
    ) -> Hits:
        """A page in the order of how well the words match. Any count may change it, also that of a
        widget that is no result: those that it overtakes become less popular.
        """
        parts = (self._terms.ranking, self._popularity, len(self._all), terms, matching)
        shown = by_score(*parts, offset, offset + limit)
        ids, total = self._popularity.ids_of(shown), len(matching)
        self._last_shown = dict(zip(ids, shown, strict=True))
        if not self.is_exact or not shown:
            return Hits(ids, total, BitMap(), [])
        # As if the last of all were on the page: then every count matters.
        return Hits(ids, total, self._all, [len(self._all) - 1])

    def count_matches(self, query: Query) -> Matches:
        """The results of a query that ranks, in numbers."""
        query = query._replace(order=Order.RELEVANCE)
        counted = self._counted.get(query)
        if counted is None:
            terms, matching = self._matched(query)
            counted = Matches(
                self._facets.groups["keyword"].frequent(matching, _MAX_COUNTED),
                self._scopes.frequent(matching, _MAX_COUNTED),
                matching.intersection_cardinality(self._official),
                len(terms) > 1 and any(not matching.issubset(it.anywhere) for it in terms),
            )
            if len(self._counted) >= _REMEMBERED_COUNTS:
                self._counted.clear()
            self._counted[query] = counted
        return counted

    def list_keywords(self, most: int) -> tuple[list[tuple[str, int]], int]:
        """The most frequent keywords, and how many listed widgets have each; and the number of all
        keywords.
        """
        return self._facets.groups["keyword"].largest(self._all, most)

    def explain(self, text: str, widget_ids: Sequence[int]) -> list[int]:
        """For each of these widgets, the set of `Field`s with a word of this text."""
        shown = self._last_shown
        ordinals = [shown.get(it) or self._find_ordinal(it) for it in widget_ids]
        explained = [0] * len(ordinals)
        for term in query_tokens(text):
            found = self._terms.find(term, is_ranked=True).found
            if found is not None:
                some = found.fields_of(ordinals)
                explained = [a | b for a, b in zip(explained, some, strict=True)]
        return explained

    def correct(self, text: str) -> str | None:
        """The text with the words that were found in place of unknown ones; None if all are known,
        or none is similar.
        """
        words = [*query_tokens(text)]
        found = [self._terms.find(it, is_ranked=True).similar or it for it in words]
        corrected = dict(zip(words, found, strict=True))
        return replace_tokens(text, corrected) if found != words else None

    def _find_in_order(self, order: Order, matching: BitMap, offset: int, limit: int) -> Hits:
        """A page in an order that does not depend on popularity."""
        ordinals = members_of(matching).astype(np.int64)
        match order:
            case Order.NAME:
                keys = self._display_names.places()[ordinals]
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

    def list_named(self, name: str) -> list[int]:
        """The numbers of the listed widgets of this name, in any scope, most popular first."""
        if not (named := self._facets.named(name)):
            return []
        among = named & self._all
        return self._popularity.ids_at(self._popularity.window(among, 0, len(among)))

    def list_values(self, facet: str) -> list[str]:
        """The values that listed widgets have of a facet, most frequent first."""
        return self._facets.values(facet, self._all)

    def list_like(self, text: str, most: int) -> list[int]:
        """The numbers of listed widgets with names that are similar to this folded text and begin
        like it. Other names are not compared, so this takes as long in a large catalog.
        """
        from rapidfuzz import fuzz, process  # Few names are unknown.

        near = self._facets.list_around(text, _NEIGHBOURS)
        near += self._display_names.list_around(text, _NEIGHBOURS)
        names = [it[0] for it in near]
        scorer, limit = fuzz.WRatio, 4 * most
        found = process.extract(text, names, scorer=scorer, limit=limit, score_cutoff=_SIMILAR)
        living = dict.fromkeys(near[at][1] for _, _, at in found if near[at][1] in self._all)
        return self._popularity.ids_of(list(living)[:most])

    def list_new_terms(self, query: Query) -> list[str]:
        """The terms of a query whose widgets are not remembered, in the order of a search."""
        text, is_ranked = query.text, query.is_ranked
        terms = query_tokens(text) if is_ranked else _by_length(text)
        return [it for it in terms if not self._terms.remembers(it, is_ranked=is_ranked)]

    def look_up(self, term: str, *, is_ranked: bool) -> bool:
        """Find the widgets with a term, for a search that follows; return whether there are any."""
        return bool(self._terms.find(term, is_ranked=is_ranked).anywhere)

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
        return changes <= _MAX_AT_ONCE and len(self._display_names.new) + changes <= self._room

    def rebuilt(self) -> "SearchIndex":
        return SearchIndex(self._reader, self._counts, self._rebuild_over)

    def update(self, widget_ids: Iterable[int]) -> None:
        """Apply the changes of these widgets, for which there must be room."""
        changed = set(widget_ids)
        # By scope and name, so that the predecessors of a new widget already have their positions.
        rows = sorted(
            self._reader.list_index_rows(list(changed)), key=lambda row: (row.scope, row.name)
        )
        replaced = {widget_id: self._find_ordinal(widget_id) for widget_id in changed}
        gone = [ordinal for ordinal in replaced.values() if ordinal is not None]
        self._terms.remove(gone)
        for ordinal in gone:
            self._all.discard(ordinal)
            self._official.discard(ordinal)
            self._versions -= self._version_count(ordinal)
        self._new_ordinals |= dict.fromkeys(changed)
        places = []
        for row in rows:
            self._add(row)
            before = self._reader.find_id_before(row.scope, row.name)
            after = before and self._find_ordinal(before)
            places.append(Insertion(row.id, replaced[row.id], after))
        self._popularity.update(gone, places)
        self._counted.clear()
        self._last_matched, self._last_shown = None, {}
        self._scope_count = None

    def _add(self, row: IndexRow) -> None:
        ordinal = len(self._old_ids) + len(self._display_names.new)
        key = fold(row.display_name)
        self._display_names.new.append(key)
        self._new_ordinals[row.id] = ordinal
        self._terms.add(row, key, ordinal)
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

    def _matching(self, query: Query) -> tuple[list[Holders], BitMap]:
        """The widgets that contain each term, and all results."""
        matching = self._all
        if query.scope is not None:
            matching = matching & self._scopes.of(query.scope)
        if query.official is not None:
            is_in = query.official
            matching = matching & self._official if is_in else matching - self._official
        if query.runs_on is not None:
            matching = matching & self._facets.running_on(query.runs_on)
        for facet, value in query.facets:
            matching = matching & self._facets.groups[facet].of(value)
        if query.is_ranked:
            words = self._matching_words(query.text, matching)
            self._last_matched = query, words
            return words
        terms: list[Holders] = []
        for term in _by_length(query.text):
            holders = self._terms.find(term, is_ranked=False)
            terms.append(holders)
            matching = holders.anywhere if matching is self._all else matching & holders.anywhere
            if not matching:
                break
        return terms, matching

    def _matched(self, query: Query) -> tuple[list[Holders], BitMap]:
        """The terms and the widgets that match; kept, if they were just found."""
        last = self._last_matched
        if last is not None and last[0]._replace(order=query.order) == query:
            return last[1]
        return self._matching(query)

    def _matching_words(self, text: str, filtered: BitMap) -> tuple[list[Holders], BitMap]:
        """Those of these widgets with every word; if there are few, with any of several."""
        terms = [self._terms.find(it, is_ranked=True) for it in query_tokens(text)]
        matching = filtered
        for term in terms:
            matching = term.anywhere if matching is self._all else matching & term.anywhere
        if len(matching) < _FEW and len(text.split()) > 1:
            matching = filtered & BitMap.union(*(it.anywhere for it in terms))
        return terms, matching

    def _nested(
        self, query: Query, terms: Sequence[Holders], matching: BitMap, offset: int
    ) -> list[BitMap]:
        """The results as sets, best first, each including those before it. Inside them, popularity
        decides.

        Of the sets before the offset, only the largest is computed.
        """
        # Without filters, all widgets with the terms in their names are results.
        filters = (query.scope, query.official, query.runs_on, query.facets)
        is_filtered = filters != _NO_FILTERS
        in_name = matching & terms[0].in_name if is_filtered else terms[0].in_name
        for term in terms[1:]:
            in_name = in_name & term.in_name
        size = len(in_name)
        if not size:
            return [matching]
        if offset >= size:
            return [in_name, matching]
        starting_word = in_name
        for term in terms:
            if term.starting_word is not term.in_name:
                starting_word = starting_word & term.starting_word
        size = len(starting_word)
        tiers = [starting_word, in_name, matching]
        if offset >= size or size == 1:
            return tiers
        return [keys & starting_word for keys in self._display_names.like(query.text)] + tiers


def _by_length(text: str) -> list[str]:
    """Longest first: the rarest terms come early, and a term without matches ends the search."""
    return sorted(set(text.split()), key=len, reverse=True)
