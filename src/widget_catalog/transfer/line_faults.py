"""Error messages for a line of an import."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, get_args, get_origin

import msgspec

from widget_contract.spelling import find_similar

SAFE_INTEGER = 2**53 - 1
MAX_CELLS = 10_000

_TEXT = "must be a text."
_TEXT_OR_NULL = "must be a text or null."
_FILE = "must be the path of a file."
_COUNT = f"must be a whole number from 0 to {SAFE_INTEGER:,}."
_INSTANT = "must be an instant with a time zone, such as 2026-01-31T09:05:00.000Z."
_SIZE = 'must be like {"w": 2, "h": 1}.'
_CELLS = f"must be a whole number from 1 to {MAX_CELLS:,}."

# The rule of each field, used as the message whatever the value is.
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

# Substitutes for required fields that are invalid or missing; the default is an empty text.
_STAND_INS: dict[str, Any] = {
    "displayName": "-",
    "reason": "-",
    **dict.fromkeys(("createdAt", "publishedAt", "at"), "2000-01-01T00:00:00Z"),
    "minSize": {"w": 1, "h": 1},
    "maxSize": {"w": 1, "h": 1},
    **dict.fromkeys(("w", "h"), 1),
}

_COMPLAINT = re.compile(r"(?P<sentence>.*?)(?: - at `\$\.?(?P<at>.*)`)?$", re.DOTALL)
_MISSING = "is missing."
_NO_FIELD = "there is no such field"
_UNKNOWN = f"{_NO_FIELD}."
_SENTENCES = (
    (re.compile(r"Object missing required field `(.*)`"), _MISSING),
    (re.compile(r"Object contains unknown field `(.*)`"), _UNKNOWN),
)


class Misfits(NamedTuple):
    """The errors that prevent a line from being decoded."""

    faults: list[str]
    """Each a field and a sentence."""
    fields: frozenset[str]
    """The paths of these fields."""
    rest: dict[str, Any] | None
    """What is in the line, with something that fits in place of what does not."""


def find_misfits(line: bytes, error: Exception, shape: type[msgspec.Struct]) -> Misfits:
    """All errors of a line that cannot be decoded as this type. `error` is the decoder's message
    about the first one.
    """
    if isinstance(error, UnicodeDecodeError):
        return Misfits([_not_utf8(line)], frozenset(), None)
    try:
        parsed = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        parsed = None
    if isinstance(parsed, dict):
        fitting = _Fitting()
        rest = fitting.fit_object(parsed, shape, "")
        if fitting.faults:
            return Misfits(fitting.faults, frozenset(fitting.fields), rest)
    return Misfits([_fault(error, "")], frozenset(), None)


def fault(field: str, sentence: str) -> str:
    return f"{field}: {sentence}" if field else sentence


def is_below(field: str, fields: frozenset[str]) -> bool:
    """Whether a field is one of these, or inside one."""
    if not fields:
        return False
    ends = [*(it.start() for it in re.finditer(r"[.\[]", field)), len(field)]
    return any(field[:end] in fields for end in ends)


class _Fitting:
    """Replaces values that are not of the expected type (a struct, a tuple, or a plain type), and
    collects the errors.
    """

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.fields: set[str] = set()

    def fit_object(
        self, value: dict[str, Any], shape: type[msgspec.Struct], at: str
    ) -> dict[str, Any]:
        prefix = f"{at}." if at else ""
        fields = {it.encode_name: it for it in msgspec.structs.fields(shape)}
        fitted = {}
        for key, field in fields.items():
            if key in value:
                default = _stand_in(key) if field.required else field.default
                fitted[key] = self._fit(value[key], field.type, prefix + key, default)
            elif field.required:
                fitted[key] = self._replace(
                    prefix + key, fault(prefix + key, _MISSING), _stand_in(key)
                )
        for key in value:
            if key not in fields:
                meant = find_similar(key, fields.keys() - value.keys())
                sentence = _UNKNOWN if meant is None else f"{_NO_FIELD}; did you mean {meant}?"
                self.faults.append(fault(prefix + key, sentence))
        return fitted

    def _fit(self, value: Any, shape: Any, at: str, default: Any) -> Any:
        """The value, or the default if it is not of the type."""
        args = get_args(shape)
        shape = args[0] if len(args) == 2 and args[1] is type(None) and value is not None else shape
        if _is_struct(shape) and isinstance(value, dict):
            return self.fit_object(value, shape, at)
        if get_origin(shape) is tuple and isinstance(value, list):
            item = args[0]
            instead = _required(item) if _is_struct(item) else ""
            return [self._fit(it, item, f"{at}[{i}]", instead) for i, it in enumerate(value)]
        try:
            msgspec.convert(value, shape)
        except msgspec.ValidationError as error:
            return self._replace(at, _fault(error, at), default)
        return value

    def _replace(self, at: str, sentence: str, instead: Any) -> Any:
        self.faults.append(sentence)
        self.fields.add(at)
        return instead


def _stand_in(key: str) -> Any:
    return _STAND_INS.get(key, "")


def _required(shape: type[msgspec.Struct]) -> dict[str, Any]:
    """An object with only its required fields."""
    fields = msgspec.structs.fields(shape)
    return {it.encode_name: _stand_in(it.encode_name) for it in fields if it.required}


def _is_struct(shape: Any) -> bool:
    return isinstance(shape, type) and issubclass(shape, msgspec.Struct)


def _fault(error: Exception, at: str) -> str:
    """The decoder's error message as a field and a sentence."""
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
    # The decoder's own message, for a field that has no rule yet.
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
