"""Which characters are allowed in the texts of a manifest.

Keys, and texts named `title`, `label` and the like, are display names; a `description` is running
text. Everything else is the widget's own data, with any characters.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec

from .texts import clean_name, clean_text, joined_lines, name_unwanted, printable, text_unwanted

_NAMES = frozenset({"author", "displayName", "keywords", "label", "name", "title"})
_DESCRIPTION = "description"
# Their content is data: values of settings, whatever their keys.
_DATA = frozenset({"const", "default", "defaultConfig", "enum", "examples"})
_MAX_ERRORS = 5
_decode_object = msgspec.json.Decoder(dict[str, Any]).decode
_MAX_SHOWN = 80


class _Place(NamedTuple):
    """A position in a manifest. It is formatted only for an error, because nesting may be deep."""

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


def manifest_text_errors(manifest: dict[str, Any]) -> list[str]:
    """The first errors in the texts of a manifest, each with its position."""
    errors: list[str] = []
    for place, text, unwanted in _texts(manifest):
        if sentence := unwanted(text):
            errors.append(f"{place}: {sentence}")
            if len(errors) == _MAX_ERRORS:
                break
    return errors


def is_plain_manifest(text: str) -> bool:
    """Whether a manifest certainly has no errors: a fast check, for imports."""
    return text.isascii() and "\\" not in text and "\x7f" not in text


def is_json_object(text: str) -> bool:
    """Whether a manifest, which may be any text in old data, can be shown."""
    try:
        _decode_object(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def clean_manifest(text: str) -> str:
    """The manifest without forbidden characters; unchanged if there are none or it cannot be
    parsed."""
    try:
        manifest = msgspec.json.decode(text)
        if not isinstance(manifest, dict) or not manifest_text_errors(manifest):
            return text
        return msgspec.json.encode(_cleaned(manifest, None, is_data=False)).decode()
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return text


def _texts(
    manifest: dict[str, Any],
) -> Iterator[tuple[_Place, str, Callable[[str], str | None]]]:
    """Every text to be checked, in order, with its check. Not recursive."""
    left: list[tuple[_Place | None, str | None, object, bool]] = [(None, None, manifest, False)]
    while left:
        place, key, value, is_data = left.pop()
        if isinstance(value, dict):
            inside = []
            for name, member in value.items():
                at = _Place(place, name)
                yield at, name, name_unwanted
                inside.append((at, name, member, is_data or name in _DATA))
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
    return shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}…"
