"""Words: which texts hold a word that contains, or starts with, a term. Exact substrings.

A term has no white space, so it can only lie inside one word: the vocabulary is searched,
not the texts. All words stand in one string, and `str.split(term)` walks it at the speed
of C: the lengths of the pieces give every place where the term stands.
"""

from collections import defaultdict
from collections.abc import Sequence
from unicodedata import normalize

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap

Ordinals = npt.NDArray[np.uint32]

_SEPARATOR = "\n"  # White space, so it is in no word and in no term.


def normal(text: str) -> str:
    """How texts are compared: Unicode NFKC, then case folding."""
    return text.lower() if text.isascii() else normalize("NFKC", text).casefold()


class Hits:
    """The ordinals of all texts with a word that contains a term, and of those it starts."""

    __slots__ = ("containing", "starting")

    def __init__(self, containing: BitMap, starting: BitMap) -> None:
        self.containing = containing
        self.starting = starting


class WordsBuilder:
    """Takes texts in, one after another, and makes the index of their words."""

    def __init__(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        self._flat: list[npt.NDArray[np.uint32]] = []
        self._lengths: list[int] = []
        self._pending: list[int] = []

    def add(self, text: str) -> None:
        words = text.split()
        self._lengths.append(len(words))
        self._pending += map(self._numbers.__getitem__, words)
        if len(self._pending) > 1_000_000:
            self._flush()

    def build(self) -> "Words":
        self._flush()
        numbers = np.concatenate(self._flat) if self._flat else np.empty(0, np.uint32)
        lengths = np.array(self._lengths, dtype=np.uint32)
        ordinals = np.repeat(np.arange(len(lengths), dtype=np.uint32), lengths)
        self._flat.clear()
        order = np.argsort(numbers, kind="stable")
        ordinals = ordinals[order]
        ends = np.cumsum(np.bincount(numbers, minlength=len(self._numbers)))
        return Words(list(self._numbers), ordinals, ends)

    def _flush(self) -> None:
        self._flat.append(np.array(self._pending, dtype=np.uint32))
        self._pending = []


class Words:
    """A vocabulary and, for every word, the ordinals of the texts it stands in."""

    def __init__(
        self, words: Sequence[str], ordinals: Ordinals, ends: npt.NDArray[np.int64]
    ) -> None:
        self._text = _SEPARATOR + _SEPARATOR.join(words) + _SEPARATOR
        lengths = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
        self._starts = 1 + np.cumsum(lengths + 1) - (lengths + 1)
        begins = np.concatenate(([0], ends[:-1])) if len(ends) else ends
        # Most words are rare: those of one text keep its ordinal here and need no bitmap.
        self._single = np.full(len(words), -1, dtype=np.int64)
        alone = ends - begins == 1
        self._single[alone] = ordinals[begins[alone]]
        self._bitmaps: list[BitMap | None] = [None] * len(words)
        for word in np.flatnonzero(~alone).tolist():
            self._bitmaps[word] = BitMap(ordinals[begins[word] : ends[word]])
        self._recent: dict[str, BitMap] = {}

    def add(self, text: str, ordinal: int) -> None:
        """Take in a text that came after the build."""
        for word in text.split():
            self._recent.setdefault(word, BitMap()).add(ordinal)

    def hits(self, term: str) -> Hits:
        places = self._places(term)
        found = np.searchsorted(self._starts, places, side="right") - 1
        starting = found[self._starts[found] == places] if len(found) else found
        containing = self._union(np.unique(found))
        at_start = self._union(starting)
        for word, ordinals in self._recent.items():
            if term in word:
                containing |= ordinals
                if word.startswith(term):
                    at_start |= ordinals
        return Hits(containing, at_start)

    def _places(self, term: str) -> npt.NDArray[np.int64]:
        pieces = self._text.split(term)
        lengths = np.fromiter(map(len, pieces), dtype=np.int64, count=len(pieces))
        return np.cumsum(lengths[:-1] + len(term)) - len(term)

    def _union(self, words: npt.NDArray[np.int64]) -> BitMap:
        single = self._single[words]
        result = BitMap(single[single >= 0])
        bitmaps = [self._bitmaps[word] for word in words[single < 0].tolist()]
        return result.union(*bitmaps) if bitmaps else result
