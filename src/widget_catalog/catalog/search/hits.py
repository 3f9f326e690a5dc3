"""What the search index finds, as values."""

from typing import NamedTuple

from pyroaring import BitMap

from .ranking import Found


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
    search that ranks, also where its words are, and the word that was found in place of an unknown
    one.
    """

    anywhere: BitMap
    in_name: BitMap
    starting_word: BitMap
    found: Found | None = None
    similar: str | None = None


class Matches(NamedTuple):
    """The results of a query in numbers: how many have the most frequent keywords, are in the most
    frequent scopes, and are official. `are_partial`: some do not have all words.
    """

    keywords: list[tuple[str, int]]
    scopes: list[tuple[str, int]]
    official: int
    are_partial: bool
