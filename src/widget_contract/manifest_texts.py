"""Which characters the texts inside a manifest may contain: those that people see in one line.

Keys and texts called `title`, `label` and the like are names for people, a `description` is running
text. Everything else is the widget's own data, in any language and with any mark that it needs.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec

from .texts import clean_name, clean_text, joined_lines, name_unwanted, printable, text_unwanted

_NAMES = frozenset({"author", "displayName", "keywords", "label", "name", "title"})
_DESCRIPTION = "description"
# What these hold is data: values of settings, whatever they are called.
_DATA = frozenset({"const", "default", "defaultConfig", "enum", "examples"})
_MOST_FAULTS = 5
_MOST_SHOWN = 80


class _Place(NamedTuple):
    """Where something is in a manifest. It is put into words only if there is a fault: nesting
    may be deep."""

    around: "_Place | None"
    part: str | int

    def __str__(self) -> str:
        parts: list[str] = []
        place: _Place | None = self
        while place is not None:
            part = place.part
            parts.append(f"[{part}]" if isinstance(part, int) else f".{_shown(part)}")
            place = place.around
        return _shown("".join(reversed(parts))[1:])


def manifest_text_faults(manifest: dict[str, Any]) -> list[str]:
    """What is wrong with the texts in a manifest: the first faults, each with its place."""
    faults: list[str] = []
    for place, text, unwanted in _texts(manifest):
        if sentence := unwanted(text):
            faults.append(f"{place}: {sentence}")
            if len(faults) == _MOST_FAULTS:
                break
    return faults


def is_plain_manifest(text: str) -> bool:
    """Whether nothing in a manifest can be wrong, at a glance: an import asks this for each."""
    return text.isascii() and "\\" not in text and "\x7f" not in text


def clean_manifest(text: str) -> str:
    """The manifest without the characters that are refused; as it is, if there are none or it
    cannot be read."""
    try:
        manifest = msgspec.json.decode(text)
        if not isinstance(manifest, dict) or not manifest_text_faults(manifest):
            return text
        return msgspec.json.encode(_cleaned(manifest, None, is_data=False)).decode()
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return text


def _texts(
    manifest: dict[str, Any],
) -> Iterator[tuple[_Place, str, Callable[[str], str | None]]]:
    """Every text that is checked, in order, and how. Without recursion."""
    left: list[tuple[_Place | None, str | None, object, bool]] = [(None, None, manifest, False)]
    while left:
        place, key, value, is_data = left.pop()
        if isinstance(value, dict):
            inside = []
            for name, it in value.items():
                at = _Place(place, name)
                yield at, name, name_unwanted
                inside.append((at, name, it, is_data or name in _DATA))
            left += reversed(inside)
        elif isinstance(value, list):
            left += [(_Place(place, i), key, it, is_data) for i, it in enumerate(value)][::-1]
        elif isinstance(value, str) and place is not None and not is_data:
            if key in _NAMES:
                yield place, value, name_unwanted
            elif key == _DESCRIPTION:
                yield place, joined_lines(value), text_unwanted


def _cleaned(value: Any, key: str | None, *, is_data: bool) -> Any:
    if isinstance(value, dict):
        named = ((clean_name(name), it) for name, it in value.items())
        return {name: _cleaned(it, name, is_data=is_data or name in _DATA) for name, it in named}
    if isinstance(value, list):
        return [_cleaned(it, key, is_data=is_data) for it in value]
    if isinstance(value, str) and not is_data:
        if key in _NAMES:
            return clean_name(value)
        if key == _DESCRIPTION:
            return clean_text(joined_lines(value)) if text_unwanted(joined_lines(value)) else value
    return value


def _shown(key: str) -> str:
    shown = printable(key)
    return shown if len(shown) <= _MOST_SHOWN else f"{shown[:_MOST_SHOWN]}…"
