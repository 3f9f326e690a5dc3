"""What is wrong with a line of an import, in words that its author understands."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from ..domain.errors import InvalidWidget

SAFE_INTEGER = 2**53 - 1
MAX_CELLS = 10_000

_TEXT = "must be a text."
_TEXT_OR_NULL = "must be a text or null."
_FILE = "must be the path of a file."
_COUNT = f"must be a whole number from 0 to {SAFE_INTEGER:,}."
_INSTANT = "must be an instant with a time zone, such as 2026-01-31T09:05:00.000Z."
_SIZE = 'must be like {"w": 2, "h": 1}.'
_CELLS = f"must be a whole number from 1 to {MAX_CELLS:,}."

# What every field must be, whatever it is instead.
_RULES = {
    "scope": _TEXT,
    "name": _TEXT,
    "displayName": "must be a text that is not empty.",
    "description": _TEXT_OR_NULL,
    "icon": _TEXT_OR_NULL,
    "isOfficial": "must be true, false or null.",
    "listed": "must be true or false.",
    "downloadCount": _COUNT,
    "createdAt": _INSTANT,
    "versions": "must be a list of versions.",
    "version": _TEXT,
    "bundleUrl": "must be an http or https address, without blanks.",
    "bundleFile": _FILE,
    "bundleSize": _COUNT,
    "sha256Hash": "must be 64 hexadecimal digits, in lower case.",
    "publishedAt": _INSTANT,
    "yanked": "must be true or false.",
    "yankedReason": _TEXT_OR_NULL,
    "deprecationMessage": _TEXT_OR_NULL,
    "releaseNotes": _TEXT_OR_NULL,
    "minSize": _SIZE,
    "maxSize": _SIZE,
    "w": _CELLS,
    "h": _CELLS,
    "sdkVersion": _TEXT,
    "configVersion": f"must be a whole number, at most {SAFE_INTEGER:,} from 0, or null.",
    "permissions": "must be a list of texts.",
    "license": _TEXT_OR_NULL,
    "cssFile": _FILE,
    "manifest": _TEXT_OR_NULL,
}

_COMPLAINT = re.compile(r"(?P<sentence>.*?)(?: - at `\$\.?(?P<at>.*)`)?$", re.DOTALL)
_SENTENCES = (
    (re.compile(r"Object missing required field `(.*)`"), "is missing."),
    (re.compile(r"Object contains unknown field `(.*)`"), "there is no such field."),
)


def fault_of(line: bytes, error: Exception) -> InvalidWidget:
    """The decoder's complaint about a line as a field and a sentence about it."""
    if isinstance(error, UnicodeDecodeError):
        return _not_utf8(line)
    found = _COMPLAINT.match(str(error))
    sentence, field = found.group("sentence", "at") if found else (str(error), None)
    for pattern, ours in _SENTENCES:
        if about := pattern.match(sentence):
            path = [field, about.group(1)] if field else [about.group(1)]
            return InvalidWidget(".".join(path), ours)
    if not field:
        is_proper = isinstance(error, msgspec.ValidationError)
        return InvalidWidget("", "A line must be a JSON object." if is_proper else f"{sentence}.")
    name = field.rpartition(".")[2]
    if name.startswith("versions["):
        return InvalidWidget(field, "must be an object.")
    return InvalidWidget(field, _RULES[name.partition("[")[0]])


def refuse_nul(parsed: msgspec.Struct) -> None:
    """PostgreSQL keeps no NUL in a text, and nobody means one."""
    for at, text in _texts(msgspec.to_builtins(parsed)):
        if "\0" in text:
            raise InvalidWidget(at, "a text must not hold a NUL character.")


def _not_utf8(line: bytes) -> InvalidWidget:
    try:
        parsed = msgspec.json.decode(line.decode(errors="replace"))
    except (msgspec.DecodeError, RecursionError):
        parsed = None
    at = next((at for at, text in _texts(parsed) if "\ufffd" in text), "")
    return InvalidWidget(at, "is not UTF-8." if at else "The line is not UTF-8.")


def _texts(value: Any, at: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a value, with the path to it."""
    match value:
        case str():
            yield at, value
        case dict():
            for key, item in value.items():
                yield from _texts(item, f"{at}.{key}" if at else key)
        case list() | tuple():
            for i, item in enumerate(value):
                yield from _texts(item, f"{at}[{i}]")
