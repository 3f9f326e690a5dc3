"""Compares two bundles line by line; minified code is split into lines first."""

import difflib
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

# Larger comparisons would be slow, and too long to read.
MAX_BYTES = 400_000
_MAX_LINES = 6_000
_SHOWN_LINES = 300
_SHOWN_CHARACTERS = 160
_MINIFIED = 160
_CONTEXT = 3

# Strings and comments are kept whole; statements and blocks are split. An unterminated token
# extends to the end of its line or of the text, so that no character is scanned twice.
_TOKEN = re.compile(
    r"""("(?:\\.|[^"\\\n])*+"?|'(?:\\.|[^'\\\n])*+'?|`(?:\\.|[^`\\])*+`?"""
    r"""|//[^\n]*|/\*.*?(?:\*/|\Z))|([;{}])""",
    re.DOTALL,
)


DiffLine = tuple[str, str]
"""`same`, `added`, `removed` or `place`, and the text."""


class BundleDiff(NamedTuple):
    """`lines` is None if the bundles are too large or too different to be compared, or if
    `is_postponed`: others are compared first, or they cannot be read just now.
    """

    lines: list[DiffLine] | None
    added: int = 0
    removed: int = 0
    is_cut: bool = False
    is_broken_up: bool = False
    is_postponed: bool = False


def compare_to_plain(bundles: tuple[bytes, bytes]) -> tuple[Any, ...]:
    """The fields of a BundleDiff as a plain tuple, which can be passed between processes."""
    return tuple(compare_bundles(*bundles))


def compare_bundles(old: bytes, new: bytes) -> BundleDiff:
    if max(len(old), len(new)) > MAX_BYTES:
        return BundleDiff(None)
    texts = [it.decode("utf-8", "replace") for it in (old, new)]
    is_minified = any(len(it) / max(len(it.splitlines()), 1) > _MINIFIED for it in texts)
    before, after = ((_broken_up(it) if is_minified else it).splitlines() for it in texts)
    if max(len(before), len(after)) > _MAX_LINES:
        return BundleDiff(None)
    lines = list(_lines(before, after))
    added, removed = (sum(it == kind for it, _ in lines) for kind in ("added", "removed"))
    is_cut = len(lines) > _SHOWN_LINES
    return BundleDiff(lines[:_SHOWN_LINES], added, removed, is_cut, is_minified)


def _broken_up(text: str) -> str:
    return _TOKEN.sub(lambda found: found[1] or f"{found[2]}\n", text)


def _lines(before: list[str], after: list[str]) -> Iterator[DiffLine]:
    kinds = {" ": "same", "+": "added", "-": "removed", "@": "place"}
    unified = difflib.unified_diff(before, after, lineterm="", n=_CONTEXT)
    for number, line in enumerate(unified):
        if number < 2:  # The file names.
            continue
        kind = kinds[line[0]]
        text = line if kind == "place" else line[1:]
        if len(text) > _SHOWN_CHARACTERS:
            text = text[:_SHOWN_CHARACTERS] + "…"
        yield kind, text
