"""What is wrong with a line of an import, in words that its author understands."""

import re
from collections.abc import Iterator
from typing import Any, get_args

import msgspec

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
    "revoked": 'must be like {"reason": "…", "at": "2026-01-31T09:05:00.000Z"}, or null.',
    "reason": "must be a text that is not empty.",
    "at": _INSTANT,
}

_COMPLAINT = re.compile(r"(?P<sentence>.*?)(?: - at `\$\.?(?P<at>.*)`)?$", re.DOTALL)
_MISSING = "is missing."
_UNKNOWN = "there is no such field."
_SENTENCES = (
    (re.compile(r"Object missing required field `(.*)`"), _MISSING),
    (re.compile(r"Object contains unknown field `(.*)`"), _UNKNOWN),
)


def faults_of(line: bytes, error: Exception, shape: type[msgspec.Struct]) -> list[str]:
    """What is wrong with a line that is not of this shape, each as a field and a sentence.

    `error` is what the decoder says about the first fault.
    """
    if isinstance(error, UnicodeDecodeError):
        return [_not_utf8(line)]
    try:
        parsed = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        parsed = None
    found = list(_misfits(parsed, shape, "")) if isinstance(parsed, dict) else []
    return found or [_fault(error, "")]


def fault(field: str, sentence: str) -> str:
    return f"{field}: {sentence}" if field else sentence


def _misfits(value: Any, shape: Any, at: str) -> Iterator[str]:
    """Every place where a value is not of a shape: a struct, a tuple of structs, or plain."""
    if _is_struct(shape) and isinstance(value, dict):
        yield from _misfits_of_object(value, shape, f"{at}." if at else "")
    elif isinstance(value, list) and _is_struct(item := next(iter(get_args(shape)), None)):
        for i, it in enumerate(value):
            yield from _misfits(it, item, f"{at}[{i}]")
    else:
        try:
            msgspec.convert(value, shape)
        except msgspec.ValidationError as error:
            yield _fault(error, at)


def _misfits_of_object(
    value: dict[str, Any], shape: type[msgspec.Struct], prefix: str
) -> Iterator[str]:
    fields = {it.encode_name: it for it in msgspec.structs.fields(shape)}
    for key, field in fields.items():
        if key in value:
            yield from _misfits(value[key], field.type, prefix + key)
        elif field.required:
            yield fault(prefix + key, _MISSING)
    for key in value:
        if key not in fields:
            yield fault(prefix + key, _UNKNOWN)


def _is_struct(shape: Any) -> bool:
    return isinstance(shape, type) and issubclass(shape, msgspec.Struct)


def _fault(error: Exception, at: str) -> str:
    """The decoder's complaint about a value as a field and a sentence."""
    found = _COMPLAINT.match(str(error))
    sentence, below = found.group("sentence", "at") if found else (str(error), None)
    dot = "." if at and below and not below.startswith("[") else ""
    field = f"{at}{dot}{below or ''}"
    for pattern, ours in _SENTENCES:
        if about := pattern.match(sentence):
            return fault(f"{field}.{about.group(1)}" if field else about.group(1), ours)
    if not field:
        is_proper = isinstance(error, msgspec.ValidationError)
        return "A line must be a JSON object." if is_proper else f"{sentence}."
    name = field.rpartition(".")[2]
    if name.startswith("versions["):
        return fault(field, "must be an object.")
    # The decoder's own words are for a field that nobody has written a rule for yet.
    return fault(field, _RULES.get(name.partition("[")[0], f"{sentence}."))


def _not_utf8(line: bytes) -> str:
    try:
        parsed = msgspec.json.decode(line.decode(errors="replace"))
    except (msgspec.DecodeError, RecursionError):
        parsed = None
    at = next((at for at, text in _texts(parsed) if "\ufffd" in text), "")
    return fault(at, "is not UTF-8.") if at else "The line is not UTF-8."


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
