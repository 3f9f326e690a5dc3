"""Words: which texts contain a word that contains, or starts with, a term. Exact substrings.

A term has no white space, so it is always inside one word: the vocabulary is searched, not the
texts. Words are numbered in sorted order, so those that start with a term are adjacent; those that
contain it are found by bisecting all positions in the vocabulary, sorted by the text that follows.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from typing import NamedTuple

import numpy as np
from pyroaring import BitMap

from widget_contract.texts import fold

from ..replica.ordinals import Array, Rows, radix_argsort, set_of, sorted_set
from ..replica.rows import TEXT_SEPARATOR
from .texts import Texts

_BETWEEN = TEXT_SEPARATOR.strip()
_PAIRS = 1 << 16
# A word with more texts than this has a precomputed set: inserting them one by one takes longer.
_FREQUENT = 64
# Up to this many positions, or words, are looked at faster without numpy.
_FEW = 32
_FEW_SETS = 8
# A pair that occurs in more than a sixteenth of the texts has a precomputed set, if there are
# enough texts for that to pay off.
_FREQUENT_SHIFT = 4
_SETS_FROM = 1_000
# Positions in a vocabulary: a few, or many.
Places = list[int] | Array
_IN_LABELS = str.maketrans("@/-", "   ")


def label_words(text: str) -> str:
    """A label, or a term to find in one, as words. Names are split at hyphens, because they have
    many words in common: whole names would make the vocabulary many times as large.
    """
    return text.translate(_IN_LABELS)


class WordsParts(NamedTuple):
    """The components of `Words`, as flat arrays.

    `places` has all positions in the vocabulary, sorted by what follows them, and `place_starts`
    the first of each pair of bytes; `texts` the ordinals of the texts of each word, word by word.
    The `frequent_pairs`, and then the `frequent_words`, have so many texts that their sets are
    precomputed, serialised, in `sets`; these words have no rows in `texts`.
    """

    vocabulary: Array
    starts: Array
    numbers: Array
    places: Array
    place_starts: Array
    texts: Array
    text_starts: Array
    frequent_pairs: Array
    frequent_words: Array
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
        numbers, places = vocabulary.numbers(), _sorted_places(vocabulary.characters)
        pairs, pair_sets = _frequent_pairs(numbers, places, of_word, int(is_between.sum()))
        lengths = of_word.lengths()
        is_rare = lengths <= _FREQUENT
        frequent = np.flatnonzero(~is_rare).astype(np.int32)
        sets = pair_sets + [set_of(it).serialize() for it in of_word.each(frequent)]
        joined = np.frombuffer(b"".join(sets), np.uint8)
        all_sets = Rows.of(joined, np.array([*map(len, sets)], np.int64))
        rare = Rows.of(of_word.items[np.repeat(is_rare, lengths)], lengths * is_rare)
        return WordsParts(
            vocabulary.characters,
            vocabulary.starts,
            numbers,
            places.items,
            places.starts,
            rare.items,
            rare.starts,
            pairs,
            frequent,
            all_sets.items,
            all_sets.starts,
        )


class Words:
    """A vocabulary and, for every word, the ordinals of the texts that contain it."""

    def __init__(self, parts: WordsParts) -> None:
        self._words = Texts(parts.vocabulary, parts.starts)
        self._numbers = parts.numbers
        self._places = Rows(parts.places, parts.place_starts)
        self._texts = Rows(parts.texts, parts.text_starts)
        self._sets = Rows(parts.sets, parts.set_starts)
        pairs, words = parts.frequent_pairs.tolist(), parts.frequent_words.tolist()
        self._set_of_pair = {code: i for i, code in enumerate(pairs)}
        self._set_of_word = {word: i for i, word in enumerate(words, len(pairs))}
        self._is_frequent = np.zeros(len(self._words), np.bool_)
        self._is_frequent[parts.frequent_words] = True
        # Views return plain numbers, five times as fast as arrays.
        self._text_at, self._number_at = parts.vocabulary.data, parts.numbers.data
        self._place_at, self._place_starts = parts.places.data, parts.place_starts.data
        self._ordinal_at, self._text_starts = parts.texts.data, parts.text_starts.data
        self._recent: dict[str, list[int]] = {}

    def add(self, text: str, ordinal: int) -> None:
        """Add a folded text after the build."""
        for word in text.split():
            self._recent.setdefault(word, []).append(ordinal)

    def containing(self, term: str) -> BitMap:
        """The texts with a word that contains the term."""
        places, sets = self._look_for(term.encode())
        recent = (texts for word, texts in self._recent.items() if term in word)
        return self._texts_of(places, [*sets, *map(BitMap, recent)])

    def find(self, term: str) -> tuple[BitMap, BitMap]:
        """The texts that contain the term, and those with a word that starts with it."""
        encoded = term.encode()
        places, sets = self._look_for(encoded)
        if len(encoded) <= 2:
            first, last = self._words.starting_with(encoded)
            starts: Places = self._words.starts[first:last]
        elif isinstance(places, list):  # Before the first word is the NUL of the last one.
            starts = [it for it in places if self._text_at[it - 1] == 0]
        else:
            starts = places[self._words.characters[places - 1] == 0]
        found = self._texts_of(places, sets)
        is_same = len(starts) == len(places) and not sets
        started = found if is_same else self._texts_of(starts, [])
        if self._recent:
            recent = {word: texts for word, texts in self._recent.items() if term in word}
            started = started.union(*(BitMap(recent[it]) for it in recent if it.startswith(term)))
            found = found.union(*map(BitMap, recent.values()))
        return found, started

    def _look_for(self, term: bytes) -> tuple[Places, list[BitMap]]:
        """The positions of the term in the vocabulary, and precomputed sets for the rest."""
        if 0 in term:  # NUL marks the ends of words.
            return [], []
        if len(term) > 2:
            first, last = self._places_of(term)
            if last - first <= _FEW:
                return self._place_at[first:last].tolist(), []
            return self._places.items[first:last], []
        first = int.from_bytes(term) << 8 * (2 - len(term))
        codes = range(first, first + 256 ** (2 - len(term)))
        ready = [self._set_of_pair[code] for code in codes if code in self._set_of_pair]
        places = [self._places.row(code) for code in codes if code not in self._set_of_pair]
        return np.concatenate([np.empty(0, np.int32), *places]), [self._set(i) for i in ready]

    def _places_of(self, term: bytes) -> tuple[int, int]:
        """The range of the sorted positions where the term is."""
        place_at, text_at, length = self._place_at, self._text_at, len(term)
        code = term[0] << 8 | term[1]
        first, last = self._place_starts[code], self._place_starts[code + 1]

        def text(place: int) -> bytes:
            return text_at[place : place + length].tobytes()

        first = bisect_left(place_at, term, first, last, key=text)
        # Usually there are few.
        near = first + _FEW
        if near < last and text(place_at[near]) != term:
            last = near
        return first, bisect_right(place_at, term, first, last, key=text)

    def _texts_of(self, places: Places, sets: list[BitMap]) -> BitMap:
        """The texts with the words at these positions, and those in these sets."""
        if isinstance(places, list):
            ordinals: list[int] = []
            for word in {self._number_at[it] for it in places}:
                number = self._set_of_word.get(word)
                if number is None:
                    start, stop = self._text_starts[word], self._text_starts[word + 1]
                    ordinals += self._ordinal_at[start:stop].tolist()
                else:
                    sets.append(self._set(number))
            rare = BitMap(ordinals) if len(ordinals) <= _FEW else sorted_set(sorted(ordinals))
        else:
            words = np.unique(self._numbers[places])
            frequent = words[self._is_frequent[words]].tolist()
            sets += [self._set(self._set_of_word[it]) for it in frequent]
            rare = set_of(self._texts.gather(words))
        if rare:
            sets.append(rare)
        if len(sets) > _FEW_SETS:
            return BitMap.union(*sets)
        found = sets[0] if sets else rare
        for members in sets[1:]:
            found |= members
        return found

    def _set(self, number: int) -> BitMap:
        return BitMap.deserialize(self._sets.row(number).tobytes())


def _sorted_places(characters: Array) -> Rows:
    """All positions inside of words, sorted by the bytes from there on, in rows by their first pair
    of bytes. A word's last byte forms a pair with its NUL.
    """
    size = len(characters)
    padded = np.concatenate((characters, np.zeros(8, np.uint8)))
    ranks = np.zeros(size, np.uint64)
    for i in range(8):
        ranks = ranks << np.uint64(8) | padded[i : size + i]
    compared = 8
    while True:  # Each round compares twice as many bytes, by their ranks in the previous round.
        order = np.argsort(ranks)
        is_next = np.ones(size, np.int64)
        is_next[1:] = ranks[order[1:]] != ranks[order[:-1]]
        ranks[order] = np.cumsum(is_next)
        if is_next.all() or compared >= 2 * size:
            break
        following = np.zeros(size, np.uint64)
        following[: size - compared] = ranks[compared:]
        ranks = ranks * np.uint64(size + 1) + following
        compared *= 2
    order = order[characters[order] != 0]
    codes = characters[order].astype(np.int64) << 8 | padded[order + 1]
    return Rows.of(order.astype(np.int32), np.bincount(codes, minlength=_PAIRS))


def _frequent_pairs(
    number_at: Array, places: Rows, texts: Rows, text_count: int
) -> tuple[Array, list[bytes]]:
    """The pairs that occur in many texts, and the sets of these texts. Without them, a search for
    two letters would merge the texts of thousands of words.
    """
    frequent: list[int] = []
    sets: list[bytes] = []
    if text_count >= _SETS_FROM:
        lengths = texts.lengths()
        for code in np.flatnonzero(places.lengths()).tolist():
            words = np.unique(number_at[places.row(code)])
            if lengths[words].sum() > text_count >> _FREQUENT_SHIFT:
                frequent.append(code)
                sets.append(set_of(texts.gather(words)).serialize())
    return np.array(frequent, np.int32), sets
