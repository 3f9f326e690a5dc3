"""The widgets that contain a term of a query, in any of their texts."""

from collections.abc import Sequence
from sys import getsizeof

from pyroaring import BitMap

from widget_contract.texts import fold

from ..replica.cache import ByteBoundedCache
from ..replica.rows import IndexRow
from .parts import IndexParts
from .ranking import Ranking
from .scoring import Holders
from .words import Words, label_words

_REMEMBERED_BYTES = 16 << 20
# Memory of three sets and their term, besides the members and the text.
_OVERHEAD_BYTES = 1_000


class Terms:
    """What is found for a term is remembered until the next change."""

    def __init__(self, parts: IndexParts) -> None:
        self._names, self._descriptions = Words(parts.names), Words(parts.descriptions)
        self._labels = Words(parts.labels)
        self.ranking = Ranking(parts.ranking)
        # Removed since the build.
        self._gone = BitMap()
        self._remembered: ByteBoundedCache[tuple[str, bool], Holders] = ByteBoundedCache(
            _REMEMBERED_BYTES
        )

    def find(self, term: str, *, is_ranked: bool) -> Holders:
        found = self._remembered.items.get((term, is_ranked))
        if found is None:
            found = self._find_words(term) if is_ranked else self._find_text(term)
            size = sum(map(getsizeof, found[:3])) + 4 * len(term) + _OVERHEAD_BYTES
            size += 0 if found.found is None else found.found.size
            self._remembered.put((term, is_ranked), found, size)
        return found

    def remembers(self, term: str, *, is_ranked: bool) -> bool:
        return (term, is_ranked) in self._remembered.items

    def add(self, row: IndexRow, name: str, ordinal: int) -> None:
        """`name` is the folded display name."""
        self._remembered.clear()
        self._names.add(name, ordinal)
        self._descriptions.add(fold(row.description or ""), ordinal)
        self._labels.add(fold(label_words(row.label)), ordinal)
        self.ranking.add(row, ordinal)

    def remove(self, ordinals: Sequence[int]) -> None:
        self._remembered.clear()
        self._gone.update(ordinals)
        self.ranking.remove(ordinals)

    def _find_words(self, term: str) -> Holders:
        words, similar = self.ranking.find(term)
        texts = (self._names, self._descriptions)
        found = [it.containing(term) for it in texts] + [self._labelled(term)]
        anywhere = words.members.union(*found)
        if self._gone:
            anywhere = anywhere - self._gone
        return Holders(anywhere, BitMap(), BitMap(), words, similar)

    def _find_text(self, term: str) -> Holders:
        in_name, starting = self._names.find(term)
        anywhere = in_name | self._descriptions.containing(term)
        if self._gone:
            anywhere, in_name, starting = (it - self._gone for it in (anywhere, in_name, starting))
        # For a complete word they are usually the same, which saves an intersection.
        return Holders(anywhere, in_name, in_name if starting == in_name else starting)

    def _labelled(self, term: str) -> BitMap:
        """The widgets whose label has every word of the term."""
        sets = [self._labels.containing(it) for it in label_words(term).split()]
        return BitMap.intersection(*sets) if sets else BitMap()
