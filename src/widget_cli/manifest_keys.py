"""Misspelled keys of a manifest."""

from collections.abc import Iterable
from typing import Any

import msgspec

from widget_contract.manifests import Manifest
from widget_contract.spelling import find_similar

# Keys that the catalog's pages and other hosts read, and that docs/publishing.md describes.
_OTHERS = ("capabilities", "configSchema", "defaultConfig", "defaultSize")


def misspelled_keys(text: str) -> list[str]:
    """A message for each key that is probably misspelled.

    Manifests may have keys of other programs: a key that only partly resembles a known one, such
    as `longDescription`, is ignored, and so is `icons` if `icon` is given.
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
    """Whether both are present and one is the plural of the other."""
    return known in given and key.removesuffix("s") == known.removesuffix("s")


def _known_keys() -> list[str]:
    fields = (it.encode_name for it in msgspec.structs.fields(Manifest) if it.name != "text")
    return [*fields, *_OTHERS]
