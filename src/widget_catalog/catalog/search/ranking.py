"""Ranking: which fields of which widgets have a word, and how much that is worth.

A word of a query stands for all words with the same English or German stem, and for longer words
that start with it. For each word of the catalog there is the list of its widgets, each with the
set of fields that contain it: that is all a score needs, together with how rare the word is
(BM25F without the frequency inside of a field, which is nearly always one in texts this short).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import IntFlag
from functools import cache
from sys import getsizeof
from typing import Any, NamedTuple

import numpy as np
from pyroaring import BitMap

from widget_contract.texts import fold

from ..model.tokens import is_stop, related_words, stems_of, tokens
from ..replica.ordinals import Array, Rows, members_of, set_of, sorted_set
from ..replica.rows import IndexRow
from .spelling import Spelling
from .texts import Texts


class Field(IntFlag):
    """Where a word is. The values are stored in the index file."""

    DISPLAY_NAME = 1
    NAME = 2
    SCOPE = 4
    KEYWORD = 8
    DESCRIPTION = 16
    README = 32


_WEIGHTS = {
    Field.DISPLAY_NAME: 5.0,
    Field.NAME: 2.5,
    Field.SCOPE: 2.0,
    Field.KEYWORD: 3.5,
    Field.DESCRIPTION: 1.5,
    Field.README: 0.7,
}
# A second field with the word is worth less than the first.
_HALF_OF_MOST = 3.0
# A word among many in a display name says less than the only one. Longer names count as this long.
_MAX_NAME_TOKENS = 7
_LONG_NAMES = 0.12
# A longer word that starts with the term, or one of the same meaning; and any other text that
# contains it.
_OTHER_WORD = 0.55
_CONTAINING = 0.06
# All fields as a set, and its size in bits.
_ALL_FIELDS, _OTHER_SHIFT = 63, 6
# Below this, words that start with a term are too many, and too different.
_MIN_PREFIX = 3
# Up to this many words are looked up one by one.
_FEW_WORDS = 16
# Up to this many widgets with a word are collected faster without numpy.
_FEW_POSTINGS = 100
# Up to this many words are stemmed to find those with the stem of a term.
_MAX_STEMMED = 500
_ORDINAL_BITS, _FIELD_BITS = 28, 3


class RankingParts(NamedTuple):
    """The components of `Ranking`, as flat arrays: the sorted vocabulary; for each word its
    ordinals, and the fields of each; and the number of words in each display name.
    """

    vocabulary: Array
    starts: Array
    ordinals: Array
    fields: Array
    posting_starts: Array
    name_lengths: Array


class Expansion(NamedTuple):
    """The words of the catalog that a term stands for: with the same stem; with the same meaning;
    and longer ones, that start with the prefix.
    """

    same: frozenset[str]
    related: frozenset[str]
    prefix: str | None


class TermMatches(NamedTuple):
    """Where a term is: for each ordinal the fields with a word of its stem, in the lower bits, and
    those with another word that it stands for, in the higher bits; of a rare term only for those
    ordinals that have it. And these ordinals.
    """

    fields: Array | dict[int, int]
    members: BitMap

    def fields_of(self, ordinals: Sequence[int | None]) -> list[int]:
        """The fields of each with any word."""
        fields = self.fields
        if isinstance(fields, dict):
            some = [0 if it is None else fields.get(it, 0) for it in ordinals]
        else:
            some = [0 if it is None else fields.item(it) for it in ordinals]
        return [it & _ALL_FIELDS or it >> _OTHER_SHIFT for it in some]

    def fields_of_all(self, ordinals: Array) -> Array:
        """As they are, of these ordinals in order."""
        if not isinstance(self.fields, dict):
            return self.fields[ordinals]
        fields = np.zeros(len(ordinals), np.uint16)
        for at, ordinal in zip(np.searchsorted(ordinals, [*self.fields]), self.fields, strict=True):
            if at < len(ordinals) and ordinals[at] == ordinal:
                fields[at] = self.fields[ordinal]
        return fields

    @property
    def size(self) -> int:
        """Memory."""
        own = getsizeof(self.fields) if isinstance(self.fields, dict) else self.fields.nbytes
        return getsizeof(self.members) + own


class RankingBuilder:
    def __init__(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        self._keys: list[Array] = []
        self._name_lengths: list[Array] = []
        self._size = 0

    def add(self, texts: Mapping[Field, Sequence[str]]) -> None:
        """Add the next widgets: their folded texts by field."""
        count = 0
        for field, some in texts.items():
            count = len(some)
            split = [tokens(it) for it in some]
            lengths = np.fromiter(map(len, split), np.int64, count)
            words = [word for it in split for word in it]
            numbers = np.fromiter(map(self._numbers.__getitem__, words), np.int64, len(words))
            ordinals = np.repeat(np.arange(self._size, self._size + count), lengths)
            bit = field.bit_length() - 1
            self._keys.append((numbers << _ORDINAL_BITS | ordinals) << _FIELD_BITS | bit)
            if field is Field.DISPLAY_NAME:
                self._name_lengths.append(np.minimum(lengths, _MAX_NAME_TOKENS).astype(np.uint8))
        self._size += count

    def build(self) -> RankingParts:
        words = sorted(self._numbers)
        rank = np.empty(len(words), np.int64)
        rank[np.fromiter(map(self._numbers.__getitem__, words), np.int64, len(words))] = np.arange(
            len(words)
        )
        keys = np.concatenate([np.empty(0, np.int64), *self._keys])
        self._keys.clear()
        below = _ORDINAL_BITS + _FIELD_BITS
        keys = rank[keys >> below] << below | keys & ((1 << below) - 1)
        keys.sort()
        postings = keys >> _FIELD_BITS
        firsts = np.flatnonzero(np.diff(postings, prepend=-1))
        bits = np.left_shift(1, keys & ((1 << _FIELD_BITS) - 1)).astype(np.uint8)
        fields = np.bitwise_or.reduceat(bits, firsts) if len(firsts) else bits
        postings = postings[firsts]
        lengths = np.bincount(postings >> _ORDINAL_BITS, minlength=len(words))
        vocabulary = Texts.of(words)
        return RankingParts(
            vocabulary.characters,
            vocabulary.starts,
            (postings & ((1 << _ORDINAL_BITS) - 1)).astype(np.uint32),
            fields,
            np.concatenate(([0], np.cumsum(lengths))),
            np.concatenate([np.empty(0, np.uint8), *self._name_lengths]),
        )


class Ranking:
    def __init__(self, parts: RankingParts) -> None:
        self._words = Texts(parts.vocabulary, parts.starts)
        self._postings = Rows(parts.ordinals, parts.posting_starts)
        self._fields = Rows(parts.fields, parts.posting_starts)
        self._name_lengths = parts.name_lengths.astype(np.uint16) << 2 * _OTHER_SHIFT
        self._recent: dict[str, dict[int, int]] = {}
        self._recent_lengths: list[int] = []
        self._gone = BitMap()
        self._spelling = Spelling(self._words, self._postings)

    def add(self, row: IndexRow, ordinal: int) -> None:
        """Add the widget with the next ordinal."""
        for field, text in field_texts(row).items():
            words = tokens(text)
            for word in words:
                fields = self._recent.setdefault(word, {})
                fields[ordinal] = fields.get(ordinal, 0) | field
            if field is Field.DISPLAY_NAME:
                self._recent_lengths.append(min(len(words), _MAX_NAME_TOKENS))

    def expand(self, term: str) -> Expansion:
        same = self._with_stem_of(term)
        related = [self._with_stem_of(it) for it in related_words(term)]
        others = frozenset().union(*related) - same
        return Expansion(same, others, term if len(term) >= _MIN_PREFIX else None)

    def _with_stem_of(self, term: str) -> frozenset[str]:
        if len(term) == 1:  # Nearly any word is near.
            return frozenset({term})
        stems, same = stems_of(term), {term}
        # Stemming changes the end of a word: those with the same stem are near.
        for prefix in {stem[: max(_MIN_PREFIX, len(stem) - 1)] for _, stem in stems}:
            near = self._starting_with(prefix, _MAX_STEMMED)
            # The German stem of "notes" is "not".
            near = [it for it in near if not is_stop(it)]
            same.update([it for it in near if not stems.isdisjoint(stems_of(it))])
        return frozenset(same)

    def find(self, term: str) -> tuple[TermMatches, str | None]:
        """Where the term is. If no word starts with it, where the most similar word is, and that
        word.
        """
        found = self._find(self.expand(term))
        if found.members:
            return found, None
        similar = self._spelling.find_similar(term, self._recent, self._count)
        if similar is None:
            return found, None
        return self._find(self.expand(similar)), similar

    def remove(self, ordinals: Iterable[int]) -> None:
        self._gone.update(ordinals)

    def _find(self, expansion: Expansion) -> TermMatches:
        same, related, prefix = expansion

        def factor(word: str) -> int:
            """Sets the lower bits, the higher ones, or both."""
            is_other = word in related or (prefix is not None and word.startswith(prefix))
            return (word in same) + (is_other << _OTHER_SHIFT)

        known = map(self._place_of, same | related)
        places = {it for it in known if it is not None}
        recent = {it for it in same | related if it in self._recent}
        first = last = 0
        if prefix is not None:
            recent.update([it for it in self._recent if it.startswith(prefix)])
            first, last = self._words.starting_with(prefix.encode())
            if last - first <= _FEW_WORDS:
                places.update(range(first, last))
                first = last
        # Written in the same way; of a rare term there are few.
        found: Any = defaultdict(int)
        is_rare = first == last and sum(map(self._postings.length, places)) <= _FEW_POSTINGS
        members = BitMap()
        if not is_rare:
            found = np.zeros(len(self.name_lengths()), np.uint16)
            ordinals, fields = self._postings.rows(first, last), self._fields.rows(first, last)
            np.bitwise_or.at(found, ordinals, fields.astype(np.uint16) << _OTHER_SHIFT)
            members |= set_of(ordinals)
        for place in places:
            ordinals, fields = self._postings.row(place), self._fields.row(place)
            of_word = factor(self._words[place].decode())
            if is_rare:
                for ordinal, some in zip(ordinals.tolist(), fields.tolist(), strict=True):
                    found[ordinal] |= some * of_word
            else:  # Each ordinal occurs once, in order.
                found[ordinals] |= fields.astype(np.uint16) * of_word
                members |= sorted_set(ordinals)
        for word in recent:
            for ordinal, some in self._recent[word].items():
                found[ordinal] |= some * factor(word)
            members.update(self._recent[word])
        if is_rare:
            members.update(found)
        if self._gone:
            if is_rare:
                found = {it: some for it, some in found.items() if it not in self._gone}
            else:
                found[members_of(self._gone)] = 0
            members -= self._gone
        return TermMatches(found, members)

    def _place_of(self, word: str) -> int | None:
        at = self._words.bisect(word.encode())
        return at if at < len(self._words) and self._words[at] == word.encode() else None

    def scores(self, found: TermMatches, ordinals: Array) -> Array:
        """How well each of these has a term, from 0 to 1, if all of them contain it."""
        scores: Array = _worth()[self.name_lengths()[ordinals] | found.fields_of_all(ordinals)]
        return scores

    def scores_of_few(self, found: TermMatches, ordinals: Sequence[int]) -> list[float]:
        """The scores of a few, which take less time without numpy."""
        worth, lengths, fields = _worth().data, self.name_lengths().data, found.fields
        if isinstance(fields, dict):
            return [worth[lengths[it] | fields.get(it, 0)] for it in ordinals]
        some = fields.data
        return [worth[lengths[it] | some[it]] for it in ordinals]

    def name_lengths(self) -> Array:
        """The number of words in each display name, in the bits above `TermMatches.fields`."""
        if self._recent_lengths:
            new = np.array(self._recent_lengths, np.uint16) << 2 * _OTHER_SHIFT
            self._name_lengths = np.append(self._name_lengths, new)
            self._recent_lengths = []
        return self._name_lengths

    def _count(self, word: str) -> int:
        """The number of widgets with exactly this word."""
        place, recent = self._place_of(word), BitMap(self._recent.get(word, ()))
        if place is None or not self._gone:
            old = 0 if place is None else self._postings.length(place)
            return old + len(recent - self._gone)
        return len((recent | sorted_set(self._postings.row(place))) - self._gone)

    def _starting_with(self, prefix: str, most: int) -> list[str]:
        first, last = self._words.starting_with(prefix.encode())
        old = [it.decode() for it in self._words[first : min(last, first + most)]]
        return old + [it for it in self._recent if it.startswith(prefix)]


def field_texts(row: IndexRow) -> dict[Field, str]:
    """The folded texts of a widget."""
    return {
        Field.DISPLAY_NAME: fold(row.display_name),
        Field.NAME: f"{row.name} {row.other_names}",
        Field.SCOPE: row.scope,
        Field.KEYWORD: fold(row.terms),
        Field.DESCRIPTION: f"{fold(row.description or '')} {row.other_descriptions}",
        Field.README: row.readme,
    }


@cache
def _worth() -> Array:
    """The worth of a term, by the length of the display name and `TermMatches.fields`."""
    table = np.zeros((_MAX_NAME_TOKENS + 1, _ALL_FIELDS + 1), np.float32)
    for length in range(_MAX_NAME_TOKENS + 1):
        for fields in range(_ALL_FIELDS + 1):
            weights = {field: weight for field, weight in _WEIGHTS.items() if fields & field}
            if Field.DISPLAY_NAME in weights:
                weights[Field.DISPLAY_NAME] /= 1 + _LONG_NAMES * max(length - 1, 0)
            total = sum(weights.values())
            table[length, fields] = total / (total + _HALF_OF_MOST)
    best = np.maximum(table[:, None, :], table[:, :, None] * np.float32(_OTHER_WORD))
    worth: Array = np.maximum(best, np.float32(_CONTAINING)).ravel()
    return worth
