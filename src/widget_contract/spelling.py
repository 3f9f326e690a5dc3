"""Suggestions for misspelled keys."""

import difflib
import re
from collections.abc import Iterable

_SIMILAR = 0.82
_SHORTEST = 4
_LENGTHS_DIFFER_BY = 2


def find_similar(key: str, known: Iterable[str]) -> str | None:
    """The known key that this one is a misspelling of, if any.

    It must be very similar: a key that only partly resembles a known one may be intended.
    """
    bare = _bare(key)
    if len(bare) < _SHORTEST or len(key) > 100:  # It takes quadratic time.
        return None
    by_bare = {_bare(it): it for it in known}
    close = difflib.get_close_matches(bare, by_bare, n=1, cutoff=_SIMILAR)
    if close and abs(len(close[0]) - len(bare)) <= _LENGTHS_DIFFER_BY:
        return by_bare[close[0]]
    return None


def _bare(key: str) -> str:
    """`Display_Name` and `display-name` are both displayName."""
    return re.sub("[_ -]", "", key).casefold()
