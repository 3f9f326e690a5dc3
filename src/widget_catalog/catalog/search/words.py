"""Words: which texts contain a word that contains, or starts with, a term. Exact substrings.

A term has no white space, so it is always inside one word: the vocabulary is searched, not the
texts. Words are numbered in sorted order, so those that start with a term are adjacent; those that
contain it are found through a pair of its bytes: all positions of that pair in the vocabulary are
known, and the surrounding bytes are compared there.
"""

from collections import defaultdict
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from pyroaring import BitMap

from widget_contract.folding import fold

from ..replica.ordinals import Array, Rows, radix_argsort, set_of, sorted_set
from ..replica.rows import TEXT_SEPARATOR
from .texts import Texts, starting_with

_BETWEEN = TEXT_SEPARATOR.strip()
_PAIRS = 1 << 16
# A word with more texts than this is processed separately, not gathered with others.
_FREQUENT = 100
_FEW_PLACES = 64
# A pair that occurs in more than a sixteenth of the texts has a precomputed set, if there are
# enough texts for that to pay off.
_FREQUENT_SHIFT = 4
_SETS_FROM = 1_000
_IN_LABELS = str.maketrans("@/-", "   ")


def label_words(text: str) -> str:
    """A label, or a term to find in one, as words. Names are split at hyphens, because they have
    many words in common: whole names would make the vocabulary many times as large.
    """
    return text.translate(_IN_LABELS)


class WordsParts(NamedTuple):
    """The components of `Words`, as flat arrays.

    `places` has the positions of each pair of bytes in the vocabulary, pair by pair; `texts` the
    ordinals of the texts of each word, word by word. `frequent` are the pairs with so many texts
    that their set is precomputed, serialised, in `sets`.
    """

    vocabulary: Array
    starts: Array
    numbers: Array
    places: Array
    place_starts: Array
    texts: Array
    text_starts: Array
    frequent: Array
    sets: Array
    set_starts: Array


class WordsBuilder:
    """Collects texts, many at a time, and builds the index of their words."""

    def __init__(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        self._between = self._numbers[_BETWEEN]
        self._tokens: list[Array] = []

    def add(self, joined: str) -> list[str]:
        """Add texts, joined by TEXT_SEPARATOR; returns them folded, one by one."""
        if joined.isascii():
            joined = fold(joined)
        else:  # One by one, because most of them are ASCII, which is folded much faster.
            joined = TEXT_SEPARATOR.join(map(fold, joined.split(TEXT_SEPARATOR)))
        words = joined.split()
        words.append(_BETWEEN)
        self._tokens.append(
            np.fromiter(map(self._numbers.__getitem__, words), np.int32, len(words))
        )
        return joined.split(TEXT_SEPARATOR)

    def build(self) -> WordsParts:
        tokens = np.concatenate([np.empty(0, np.int32), *self._tokens])
        self._tokens.clear()
        is_between = tokens == self._between
        texts = (np.cumsum(is_between) - is_between).astype(np.uint32)[~is_between]
        tokens = tokens[~is_between]
        del self._numbers[_BETWEEN]
        words = sorted(self._numbers)
        rank = np.empty(len(words) + 1, np.int32)
        rank[np.fromiter(map(self._numbers.__getitem__, words), np.int32)] = np.arange(len(words))
        tokens = rank[tokens]
        of_word = Rows.of(texts[radix_argsort(tokens)], np.bincount(tokens, minlength=len(words)))
        vocabulary = Texts.of(words)
        places = _places_of_pairs(vocabulary.characters)
        return WordsParts(
            vocabulary.characters,
            vocabulary.starts,
            vocabulary.numbers(),
            places.items,
            places.starts,
            of_word.items,
            of_word.starts,
            *_frequent_pairs(vocabulary.numbers(), places, of_word, int(is_between.sum())),
        )


class Words:
    """A vocabulary and, for every word, the ordinals of the texts that contain it."""

    def __init__(self, parts: WordsParts) -> None:
        self._words = Texts(parts.vocabulary, parts.starts)
        self._number_at = parts.numbers
        self._places = Rows(parts.places, parts.place_starts)
        self._texts = Rows(parts.texts, parts.text_starts)
        self._is_frequent = self._texts.lengths() > _FREQUENT
        self._sets = Rows(parts.sets, parts.set_starts)
        self._set_numbers = {code: i for i, code in enumerate(parts.frequent.tolist())}
        self._recent: dict[str, list[int]] = {}

    def add(self, text: str, ordinal: int) -> None:
        """Add a folded text after the build."""
        for word in text.split():
            self._recent.setdefault(word, []).append(ordinal)

    def containing(self, term: str) -> BitMap:
        """The texts with a word that contains the term."""
        places, sets = self._look_for(term.encode())
        words = _distinct(self._number_at[places])
        is_frequent = self._is_frequent[words]
        sets += map(sorted_set, self._texts.each(words[is_frequent]))
        sets += (BitMap(texts) for word, texts in self._recent.items() if term in word)
        return BitMap.union(set_of(self._texts.gather(words[~is_frequent])), *sets)

    def starting(self, term: str) -> BitMap:
        """The texts with a word that starts with the term."""
        old = set_of(self._texts.rows(*starting_with(self._words, term.encode())))
        recent = (texts for word, texts in self._recent.items() if word.startswith(term))
        return BitMap.union(old, *map(BitMap, recent))

    def _look_for(self, term: bytes) -> tuple[Array, list[BitMap]]:
        """The positions of the term in the vocabulary, in order, and precomputed sets for the
        rest.
        """
        if 0 in term:  # NUL marks the ends of words.
            return np.empty(0, np.int32), []
        if len(term) > 2:
            return self._places_of(term), []
        first = int.from_bytes(term) << 8 * (2 - len(term))
        codes = range(first, first + 256 ** (2 - len(term)))
        ready = [self._set_numbers[code] for code in codes if code in self._set_numbers]
        places = [self._places.row(code) for code in codes if code not in self._set_numbers]
        sets = [BitMap.deserialize(self._sets.row(i).tobytes()) for i in ready]
        return np.sort(np.concatenate([np.empty(0, np.int32), *places])), sets

    def _places_of(self, term: bytes) -> Array:
        """The positions of the term in the vocabulary, in order."""
        codes = [a << 8 | b for a, b in pairwise(term)]
        rarest = min(range(len(codes)), key=lambda i: self._places.length(codes[i]))
        places, characters = self._places.row(codes[rarest]), self._words.characters
        # Byte by byte, outwards from the pair: a partial match never extends beyond a NUL on
        # either side (before the first word, that of the last one), so no position is out of
        # bounds.
        for i in (*range(rarest + 2, len(term)), *range(rarest - 1, -1, -1)):
            if len(places) < _FEW_PLACES:
                return self._few_places_of(term, places - rarest) + rarest
            places = places[characters[places + (i - rarest)] == term[i]]
        return places

    def _few_places_of(self, term: bytes, firsts: Array) -> Array:
        """Those of these positions where the term starts: a few are checked one by one."""
        text, length = self._words.characters.data, len(term)
        return np.array([i for i in firsts.tolist() if text[i : i + length] == term], np.int32)


def _places_of_pairs(characters: Array) -> Rows:
    """The positions of each pair of bytes. A word's last byte forms a pair with its NUL."""
    before, after = characters[:-1], characters[1:]
    codes = (before.astype(np.uint16) << 8 | after)[before != 0]
    places = np.flatnonzero(before).astype(np.int32)
    order = np.argsort(codes, kind="stable")
    return Rows.of(places[order], np.bincount(codes, minlength=_PAIRS))


def _frequent_pairs(
    number_at: Array, places: Rows, texts: Rows, text_count: int
) -> tuple[Array, Array, Array]:
    """The pairs that occur in many texts, and the sets of these texts, concatenated. Without them,
    a search for two letters would merge the texts of thousands of words.
    """
    frequent, sets = [], []
    if text_count >= _SETS_FROM:
        lengths = texts.lengths()
        for code in np.flatnonzero(places.lengths()).tolist():
            words = _distinct(number_at[places.row(code)])
            if lengths[words].sum() > text_count >> _FREQUENT_SHIFT:
                frequent.append(code)
                sets.append(set_of(texts.gather(words)).serialize())
    joined = Rows.of(np.frombuffer(b"".join(sets), np.uint8), np.array([*map(len, sets)], np.int64))
    return np.array(frequent, np.int32), joined.items, joined.starts


def _distinct(numbers: Array) -> Array:
    """Sorted numbers, each once."""
    is_first = np.ones(len(numbers), np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=is_first[1:])
    return numbers[is_first]
