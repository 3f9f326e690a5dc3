"""Spelling: finds the word of the catalog that was probably meant by an unknown one."""

from collections.abc import Callable, Iterable

import numpy as np

from ..replica.ordinals import Array, Rows
from .texts import Texts

# Shorter words are not corrected, and shorter ones only by one letter.
_MIN_TYPO, _MIN_TWO_TYPOS = 4, 6
# Words of a length that are compared with one that is unknown: the most frequent ones.
_MAX_COMPARED = 10_000
# Of each letter; of digits one for every two, and one of all that is not ASCII.
_BIT_OF_BYTE = np.array(
    [1 << (it - 96 if 96 < it < 123 else 27 + it % 5 if it < 128 else 0) for it in range(256)],
    np.uint32,
)


class Spelling:
    def __init__(self, words: Texts, postings: Rows) -> None:
        """`postings` has a row for each word: the longer it is, the more frequent is the word."""
        self._words = words
        self._postings = postings
        self._by_length: dict[int, tuple[Array, Array]] = {}

    def find_similar(
        self, term: str, recent: Iterable[str], count: Callable[[str], int]
    ) -> str | None:
        """The most similar word, of these or of recent ones, that any widget has now: `count` is
        how many have a word.
        """
        from rapidfuzz.distance.OSA import distance  # Few words are unknown.

        most = 0 if len(term) < _MIN_TYPO else 1 if len(term) < _MIN_TWO_TYPOS else 2
        if not most:
            return None
        text = np.frombuffer(term.encode(), np.uint8)
        letters, words = _letters(text[None])[0], [*recent]
        # A typing error leaves out one letter at most, and adds one at most, of the same script.
        most_bytes = most * (width := _width(term))
        for length in range(max(1, len(text) - most_bytes), len(text) + most_bytes + 1):
            places, of_places = self._of_length(length)
            is_near = np.bitwise_count(letters & ~of_places) <= most_bytes
            is_near &= np.bitwise_count(of_places & ~letters) <= most_bytes
            words += [self._words[it].decode() for it in places[is_near].tolist()]
        similar = [(distance(term, it, score_cutoff=most), it) for it in words]
        counts = {it: count(it) for far, it in similar if far <= most and _width(it) <= width}
        return min(
            (it for it in similar if counts.get(it[1])),
            key=lambda it: (it[0], it[1][0] != term[0], -counts[it[1]], it[1]),
            default=(0, None),
        )[1]

    def _of_length(self, length: int) -> tuple[Array, Array]:
        """The places of the words with so many bytes, and the letters of each; of very many, the
        most frequent ones.
        """
        found = self._by_length.get(length)
        if found is None:
            starts = self._words.starts
            near = np.flatnonzero(np.diff(starts) - 1 == length)
            if len(near) > _MAX_COMPARED:
                often = -self._postings.lengths()[near]
                near = near[np.argpartition(often, _MAX_COMPARED)[:_MAX_COMPARED]]
            texts = self._words.characters[starts[near][:, None] + np.arange(length)]
            found = self._by_length[length] = near, _letters(texts)
        return found


def _width(word: str) -> int:
    """The most bytes of any of its letters."""
    return max(len(it.encode()) for it in word)


def _letters(texts: Array) -> Array:
    """The set of the letters of each text of equal length, as bits."""
    letters: Array = np.bitwise_or.reduce(_BIT_OF_BYTE[texts], axis=1)
    return letters
