"""Tokens: the words of texts, as pages search them; their stems in English and German, and words
with the same meaning. The API's `q` has its own rule.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from widget_contract.texts import fold

if TYPE_CHECKING:
    from Stemmer import Stemmer

# Longer READMEs are searched by their beginning: what a widget does is said there.
_README_CHARACTERS = 20_000
MAX_README_TOKENS = 100
_MAX_CHARACTERS = 30
_MAX_QUERY_TOKENS = 12

# What a stemmer may remove if a short stem is left: English timers are not German "tim".
_LONG_STEM, _MAX_ENDING = 5, 2
_ENDINGS_OF_LONG = ("er",)
_REMEMBERED = 20_000

_TOKEN = re.compile(r"[^\W_]+")
# Han, hiragana and katakana are written without spaces.
_UNSPACED = re.compile(
    "([\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
    "|[\u3041-\u309f]+|[\u30a1-\u30ff]+)"
)
_HIRAGANA = re.compile("[\u3041-\u309f]+")
_ADDRESS = re.compile(r"\(?\bhttps?:[^\s)>]+")
# Words without a subject: they are ignored in a query that has others, and in READMEs.
_STOP_WORDS = frozenset(
    """a an and are as at be by for from how i in is it its me my not of on or that the this to up
    use what with you your all can if when which has have was will no one
    aus das dem den der die ein eine einem einen einer es fur im ist mit nach oder sich sie und
    unter von vor wie zu zum zur auf auch bei wird werden nicht""".split()
)


def tokens(folded: str) -> list[str]:
    """The letters and digits of a folded text, split at everything else; of scripts without spaces,
    all pairs of neighbors: a word of two or more characters is found wherever it is.
    """
    found = _TOKEN.findall(folded)
    if folded.isascii():
        return found
    return [it for word in found for part in _UNSPACED.split(word) if part for it in _pairs(part)]


def _pairs(part: str) -> list[str]:
    if len(part) < 3 or not _UNSPACED.match(part):
        return [part]
    return [part[at : at + 2] for at in range(len(part) - 1)]


@lru_cache(64)
def query_tokens(folded: str) -> tuple[str, ...]:
    """What to look for, in order, without duplicates; a query of symbols alone is one word each.

    Of very long queries only the first words, because each of them takes time. Remembered, because
    a page needs them three times.
    """
    found = list(dict.fromkeys(tokens(folded) or folded.split()))
    return tuple([it for it in found if not is_stop(it)] or found)[:_MAX_QUERY_TOKENS]


def replace_tokens(folded: str, by: Mapping[str, str]) -> str:
    """A text with some words replaced by others."""

    def replace(word: re.Match[str]) -> str:
        return "".join(by.get(it, it) for it in _UNSPACED.split(word[0]))

    return _TOKEN.sub(replace, folded)


def is_stop(token: str) -> bool:
    """Hiragana are mostly particles and endings."""
    return token in _STOP_WORDS or (not token.isascii() and bool(_HIRAGANA.fullmatch(token)))


def readme_tokens(markdown: str) -> list[str]:
    """The first distinct words of a README, folded."""
    text = fold(_ADDRESS.sub(" ", markdown[:_README_CHARACTERS]))
    found: dict[str, None] = {}
    for token in tokens(text):
        if 1 < len(token) <= _MAX_CHARACTERS and not is_stop(token):
            found[token] = None
            if len(found) == MAX_README_TOKENS:
                break
    return list(found)


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
