"""Forms of words: their stems in English and German, and other words with the same meaning."""

from collections import defaultdict
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from Stemmer import Stemmer

# What a stemmer may remove if a short stem is left: English timers are not German "tim".
_LONG_STEM, _MAX_ENDING = 5, 2
_ENDINGS_OF_LONG = ("er",)
_REMEMBERED = 20_000


@lru_cache(_REMEMBERED)
def stems_of(word: str) -> frozenset[tuple[int, str]]:
    """Its stems by language, without those that lost too much to be the same word."""
    stems = enumerate(it.stemWord(word) for it in _stemmers())
    return frozenset(
        (language, stem)
        for language, stem in stems
        if len(stem) >= _LONG_STEM
        or (len(word) - len(stem) <= _MAX_ENDING and not word.endswith(_ENDINGS_OF_LONG, len(stem)))
    )


def related_words(term: str) -> list[str]:
    """Other words with the same meaning."""
    groups, words_of = _groups(), stems_of(term)
    found = [groups[it] for it in words_of if it in groups]
    return [it for it in dict.fromkeys(chain.from_iterable(found)) if it != term]


@cache
def _groups() -> dict[tuple[int, str], list[str]]:
    groups: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
    text = Path(__file__).with_name("related_words.txt").read_text("utf-8")
    for line in text.splitlines():
        if not line.startswith("#"):
            words = line.split()
            for stem in {stem for word in words for stem in stems_of(word)}:
                groups[stem] += words
    return groups


@cache
def _stemmers() -> "tuple[Stemmer, ...]":
    from Stemmer import Stemmer

    return Stemmer("english"), Stemmer("german")
