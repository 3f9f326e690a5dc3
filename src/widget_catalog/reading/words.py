"""Words: which texts hold a word that contains, or starts with, a term. Exact substrings.

A term has no white space, so it can only lie inside one word: the vocabulary is searched,
not the texts. Words are numbered in their order, so those that start with a term are
neighbours; those that contain it are found through the pairs of characters they are made of.
"""

import bisect
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from unicodedata import normalize

import numpy as np

from .documents import TEXT_SEPARATOR
from .ordinals import Array, Marks, Rows, mark, radix_argsort

_BETWEEN = TEXT_SEPARATOR.strip()
_CHARACTER_BITS = 21
# Texts of a word above which it is walked by itself and not gathered with others.
_FREQUENT = 100
# Words that are looked at one by one rather than narrowed down further.
_FEW_WORDS = 100


def normal(text: str) -> str:
    """How texts are compared: Unicode NFKC, then case folding."""
    return text.lower() if text.isascii() else normalize("NFKC", text).casefold()


class WordsBuilder:
    """Takes texts in, many at a time, and makes the index of their words."""

    def __init__(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        self._between = self._numbers[_BETWEEN]
        self._tokens: list[Array] = []

    def add(self, joined: str) -> list[str]:
        """Take texts in, joined by TEXT_SEPARATOR; gives their normal forms, one by one."""
        joined = normal(joined)
        words = joined.split()
        words.append(_BETWEEN)
        self._tokens.append(
            np.fromiter(map(self._numbers.__getitem__, words), np.int32, len(words))
        )
        return joined.split(TEXT_SEPARATOR)

    def build(self) -> "Words":
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
        by_word = radix_argsort(tokens)
        return Words(words, Rows(texts[by_word], np.bincount(tokens, minlength=len(words))))


class Words:
    """A vocabulary and, for every word, the ordinals of the texts it stands in."""

    def __init__(self, words: list[str], texts: Rows) -> None:
        self._words = words
        self._texts = texts
        self._is_frequent = texts.lengths() > _FREQUENT
        self._pairs, self._words_of_pair = _pairs(words)
        self._recent: dict[str, list[int]] = {}

    def add(self, text: str, ordinal: int) -> None:
        """Take in a text, in normal form, that came after the build."""
        for word in text.split():
            self._recent.setdefault(word, []).append(ordinal)

    def mark_containing(self, term: str, marks: Marks) -> None:
        """Mark the texts with a word that contains the term."""
        words = self._words_with(term)
        is_frequent = self._is_frequent[words]
        mark(marks, self._texts.gather(words[~is_frequent]))
        for word in words[is_frequent].tolist():
            mark(marks, self._texts.row(word))
        for recent, texts in self._recent.items():
            if term in recent:
                marks[texts] = True

    def mark_starting(self, term: str, marks: Marks) -> None:
        """Mark the texts with a word that starts with the term."""
        first = bisect.bisect_left(self._words, term)
        last = end_of_prefix(self._words, term, first)
        mark(marks, self._texts.rows(first, last))
        for recent, texts in self._recent.items():
            if recent.startswith(term):
                marks[texts] = True

    def _words_with(self, term: str) -> Array:
        """The numbers of all words that contain the term."""
        if _BETWEEN in term:  # It marks the ends of words among the pairs.
            return np.empty(0, np.int64)
        if len(term) == 1:
            first = np.searchsorted(self._pairs, _pair(ord(term), 0))
            last = np.searchsorted(self._pairs, _pair(ord(term) + 1, 0))
            return _unique(self._words_of_pair.rows(int(first), int(last)), len(self._words))
        lists = []
        for a, b in pairwise(term):
            code = _pair(ord(a), ord(b))
            at = int(np.searchsorted(self._pairs, code))
            if at == len(self._pairs) or self._pairs[at] != code:
                return np.empty(0, np.int64)
            lists.append(self._words_of_pair.row(at))
        rarest, *others = sorted(lists, key=len)
        for other in others:
            if len(rarest) < _FEW_WORDS:
                break
            has_other = np.zeros(len(self._words), np.bool_)
            mark(has_other, other)
            rarest = rarest[has_other[rarest]]
        if len(term) == 2:
            return rarest
        words = self._words
        return np.array([i for i in rarest.tolist() if term in words[i]], dtype=np.int64)


def _pair(a: int, b: int) -> int:
    return a << _CHARACTER_BITS | b


def _pairs(words: Sequence[str]) -> tuple[Array, Rows]:
    """The pairs of neighbouring characters, in order, and the words each stands in.

    A word's last character makes a pair with nothing (0), so that no character is left out.
    """
    text = _BETWEEN.join(words) + _BETWEEN
    characters = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32).astype(np.int64)
    is_end = characters == 0
    word = np.cumsum(is_end) - is_end
    codes = (characters[:-1] << _CHARACTER_BITS | characters[1:])[~is_end[:-1]]
    word = word[:-1][~is_end[:-1]]
    kinds, codes = np.unique(codes, return_inverse=True)
    order = radix_argsort(codes)  # Stable, so that the words of a pair stay in order.
    codes, word = codes[order], word[order]
    # A pair that stands twice in a word counts once.
    is_first = np.ones(len(codes), np.bool_)
    is_first[1:] = (codes[1:] != codes[:-1]) | (word[1:] != word[:-1])
    codes, word = codes[is_first], word[is_first]
    return kinds, Rows(word.astype(np.int32), np.bincount(codes, minlength=len(kinds)))


def _unique(numbers: Array, below: int) -> Array:
    marks = np.zeros(below, np.bool_)
    marks[numbers] = True
    return np.flatnonzero(marks)


def end_of_prefix(texts: Sequence[str], prefix: str, first: int) -> int:
    """Where, in sorted texts, those end that start with the prefix; they begin at `first`."""
    length = len(prefix)
    return bisect.bisect_right(texts, prefix, lo=first, key=lambda text: text[:length])
