"""Detects misspelled keys of a manifest."""

from collections.abc import Iterable
from typing import Any

import msgspec

from widget_contract.manifests import Manifest
from widget_contract.spelling import find_similar

# Keys that the catalog's pages and other hosts read, and that docs/publishing.md describes.
_OTHERS = ("configSchema", "defaultConfig", "defaultSize")


def misspelled_keys(text: str) -> list[str]:
    """A sentence for each key that is probably meant to be another.

    Manifests may hold keys of any other program: what merely resembles a known key in part, as
    `longDescription` does, is left alone, and so is `icons` where `icon` is given.
    """
    try:
        given = msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.MsgspecError:
        return []
    known = _known_keys()
    meant = {key: find_similar(key, known) for key in given if key not in known}
    return [
        f"The catalog does not know the key {key}. Did you mean {similar}?"
        for key, similar in meant.items()
        if similar is not None and not _is_other_number(key, similar, given)
    ]


def _is_other_number(key: str, known: str, given: Iterable[str]) -> bool:
    """Whether both are given and one is the plural of the other."""
    return known in given and key.removesuffix("s") == known.removesuffix("s")


def _known_keys() -> list[str]:
    fields = (it.encode_name for it in msgspec.structs.fields(Manifest) if it.name != "text")
    return [*fields, *_OTHERS]
