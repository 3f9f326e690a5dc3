"""Keys of a manifest that are almost those that the catalog knows."""

import difflib
import re
from collections.abc import Iterable
from typing import Any

import msgspec

from widget_contract.manifests import Manifest

_SIMILAR = 0.82
_SHORTEST = 4
_LENGTHS_DIFFER_BY = 2


def misspelled_keys(text: str) -> list[str]:
    """A sentence for each key that is probably meant to be another.

    Manifests may hold keys of any other program: what merely resembles a known key in part, as
    `defaultSize` or `longDescription` do, is left alone, and so is `icons` where `icon` is given.
    """
    try:
        given = msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.MsgspecError:
        return []
    known = _known_keys()
    by_bare = {_bare(key): key for key in known}
    meant = {key: _find_similar(_bare(key), by_bare) for key in given if key not in known}
    return [
        f"The catalog does not know the key {key}. Did you mean {by_bare[similar]}?"
        for key, similar in meant.items()
        if similar is not None and not _is_other_number(key, by_bare[similar], given)
    ]


def _find_similar(key: str, others: Iterable[str]) -> str | None:
    if len(key) < _SHORTEST:
        return None
    close = difflib.get_close_matches(key, others, n=1, cutoff=_SIMILAR)
    return next((it for it in close if abs(len(it) - len(key)) <= _LENGTHS_DIFFER_BY), None)


def _is_other_number(key: str, known: str, given: Iterable[str]) -> bool:
    """Whether both are given and one is the plural of the other."""
    return known in given and key.removesuffix("s") == known.removesuffix("s")


def _known_keys() -> list[str]:
    return [it.encode_name for it in msgspec.structs.fields(Manifest) if it.name != "text"]


def _bare(key: str) -> str:
    """`Display_Name` and `display-name` are both displayName."""
    return re.sub("[_ -]", "", key).casefold()
