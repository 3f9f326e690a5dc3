"""Changes one value in the text of a manifest, preserving all other characters."""

import json
import re
from collections.abc import Iterator
from enum import StrEnum

from widget_contract.semver import SemVer

_BLANKS = re.compile(r"[ \t\r\n]*")


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
