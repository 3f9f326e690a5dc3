"""The order of results by how well words match."""

from collections.abc import Sequence
from math import log
from typing import NamedTuple

import numpy as np
from pyroaring import BitMap

from ..replica.ordinals import Array, members_of
from .popularity import Popularity
from .ranking import Ranking, TermMatches


class Hits(NamedTuple):
    """The numbers of the widgets on a page, and the number of all results.

    If the order follows every count, `among` are those that could be on this page if they were
    more popular. The page shows those at `positions` of the order by popularity; with another
    order there are none.
    """

    ids: list[int]
    total: int
    among: BitMap
    positions: list[int]


class Holders(NamedTuple):
    """The widgets that contain a term: anywhere, in their name, at the start of a word of it. For a
    search that ranks, only anywhere; and where its words are, and the word that was found in place
    of an unknown one.
    """

    anywhere: BitMap
    in_name: BitMap
    starting_word: BitMap
    found: TermMatches | None = None
    similar: str | None = None


class Matches(NamedTuple):
    """The results of a query in numbers: how many have the most frequent keywords, are in the most
    frequent scopes, and are official. `are_partial`: some do not have all words.
    """

    keywords: list[tuple[str, int]]
    scopes: list[tuple[str, int]]
    official: int
    are_partial: bool


# Up to this many are scored faster without numpy.
_FEW = 64
# The most popular widget, compared with the least popular one.
_POPULARITY = 0.2
# More than any other score, so that those with every word come first.
_ALL_WORDS = 1_000.0


def by_score(
    ranking: Ranking,
    popularity: Popularity,
    size: int,
    terms: Sequence[Holders],
    matching: BitMap,
    offset: int,
    stop: int,
) -> list[int]:
    """The ordinals in this window of the results. `size` is the number of all widgets."""
    parts = (ranking, popularity, size, terms, matching)
    if len(matching) <= _FEW:
        return _few_by_score(*parts)[offset:stop]
    return _many_by_score(*parts, offset, stop)


def _few_by_score(
    ranking: Ranking,
    popularity: Popularity,
    size: int,
    terms: Sequence[Holders],
    matching: BitMap,
) -> list[int]:
    """All of these ordinals in order, without numpy."""
    ordinals = matching.to_array().tolist()
    scores, missing = [0.0] * len(ordinals), [False] * len(ordinals)
    for term in terms:
        if term.found is not None and term.anywhere:
            weight, anywhere = _rarity(len(term.anywhere), size), term.anywhere
            for at, worth in enumerate(ranking.scores_of_few(term.found, ordinals)):
                if len(terms) == 1 or ordinals[at] in anywhere:
                    scores[at] += worth * weight
                else:
                    missing[at] = True
    positions = popularity.positions_of(ordinals)
    each = zip(missing, scores, positions, ordinals, strict=True)
    keys = [(no, -_popular_score(score, at, size), at, it) for no, score, at, it in each]
    return [it[3] for it in sorted(keys)]


def _many_by_score(
    ranking: Ranking,
    popularity: Popularity,
    size: int,
    terms: Sequence[Holders],
    matching: BitMap,
    offset: int,
    stop: int,
) -> list[int]:
    """The ordinals in this window."""
    ordinals = members_of(matching).astype(np.int64)
    scores = np.zeros(len(ordinals), np.float32)
    has_all = None
    for term in terms:
        if term.found is not None and term.anywhere:
            weight = np.float32(_rarity(len(term.anywhere), size))
            mine = ranking.scores(term.found, ordinals) * weight
            if not matching.issubset(term.anywhere):
                # Both are sorted, so this takes a fifth of the time of `np.isin`.
                has_it = np.zeros(len(ordinals), np.bool_)
                has_it[np.searchsorted(ordinals, members_of(matching & term.anywhere))] = True
                mine *= has_it
                has_all = has_it if has_all is None else has_all & has_it
            scores += mine
    positions = popularity.positions(ordinals)
    keys = -_with_popularity(scores, positions, size)
    if has_all is not None:
        keys[has_all] -= _ALL_WORDS
    if stop < len(keys):  # Only those that may be in the window have to be sorted.
        is_early = keys <= np.partition(keys, stop)[stop]
        ordinals, positions, keys = ordinals[is_early], positions[is_early], keys[is_early]
    shown: list[int] = ordinals[np.lexsort((positions, keys))[offset:stop]].tolist()
    return shown


def _rarity(count: int, size: int) -> float:
    """The weight of a term that so many widgets of all have."""
    return log(1 + (size - count + 0.5) / (count + 0.5))


def _popular_score(score: float, position: int, size: int) -> float:
    """The score of one widget, as `_with_popularity` computes it for many."""
    return score * (1 + _POPULARITY * (1 - position / size))


def _with_popularity(scores: Array, positions: Array, size: int) -> Array:
    """Scores, increased by the position in the order by popularity."""
    popular: Array = scores * (1 + np.float32(_POPULARITY) * (1 - positions / np.float32(size)))
    return popular
