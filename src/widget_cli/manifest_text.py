"""The text of a manifest: misspelled keys, and changes of one value that keep all other text."""

import json
import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any

import msgspec

from widget_contract.manifests import Manifest
from widget_contract.semver import SemVer
from widget_contract.texts import find_similar

# Keys that the catalog's pages and other hosts read, and that docs/publishing.md describes.
_OTHERS = ("capabilities", "configSchema", "defaultConfig", "defaultSize")
_BLANKS = re.compile(r"[ \t\r\n]*")


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


class Bump(StrEnum):
    """Which part of a version is incremented."""

    PATCH = "patch"
    MINOR = "minor"
    MAJOR = "major"
    KEEP = "keep"


def with_value(text: str, key: str, value: object) -> str:
    """The text with this value. It must be a valid JSON object."""
    written = json.dumps(value, ensure_ascii=False)
    spans = [(start, end) for found, start, end in _members(text) if found == key]
    if spans:
        start, end = spans[-1]  # The last one of duplicate keys wins.
        return text[:start] + written + text[end:]
    before = text.rstrip()[:-1].rstrip()
    after = text[len(before) :]
    comma = "" if before.endswith("{") else ","
    return f"{before}{comma}{_gap(text)}{json.dumps(key)}: {written}{after}"


def with_first(text: str, key: str, value: object) -> str:
    """The text with a new key, as the first one."""
    start = text.index("{") + 1
    comma = "" if text[_skip(text, start)] == "}" else ","
    written = json.dumps(value, ensure_ascii=False)
    return f"{text[:start]}{_gap(text)}{json.dumps(key)}: {written}{comma}{text[start:]}"


def bumped(version: SemVer, bump: Bump) -> SemVer:
    """The next version, as `npm version` increments it: a prerelease becomes its release."""
    major, minor, patch = version.major, version.minor, version.patch
    leads_up = bool(version.prerelease)
    match bump:
        case Bump.KEEP:
            return version
        case Bump.MAJOR:
            numbers = (major if leads_up and minor == patch == 0 else major + 1, 0, 0)
        case Bump.MINOR:
            numbers = (major, minor if leads_up and patch == 0 else minor + 1, 0)
        case Bump.PATCH:
            numbers = (major, minor, patch if leads_up else patch + 1)
    return SemVer.parse("{}.{}.{}".format(*numbers))


def _members(text: str) -> Iterator[tuple[str, int, int]]:
    """Every key of the object, with the start and end of its value."""
    decoder = json.JSONDecoder(strict=False)
    at = _skip(text, text.index("{") + 1)
    while text[at] != "}":
        key, at = decoder.raw_decode(text, at)
        start = _skip(text, _skip(text, at) + 1)
        _, end = decoder.raw_decode(text, start)
        yield key, start, end
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    assert found is not None  # noqa: S101  The pattern matches the empty text, too.
    return found.end()


def _gap(text: str) -> str:
    """The white space before the first key: line break and indentation, if any."""
    start = text.index("{") + 1
    gap = text[start : _skip(text, start)]
    return gap or " "
