"""Error messages for a line of an import."""

import re
from collections.abc import Iterator, Mapping
from types import GenericAlias
from typing import Annotated, Any, NamedTuple, get_args, get_origin

import msgspec

from widget_contract.texts import find_similar
from widget_contract.version_files import MAX_PICTURE_SIDE

SAFE_INTEGER = 2**53 - 1
MAX_CELLS = 10_000

_FILE = "must be the path of a file."
_COUNT = f"must be a whole number from 0 to {SAFE_INTEGER:,}."
_INSTANT = "must be an instant with a time zone, such as 2026-01-31T09:05:00.000Z."
_SIZE = 'must be like {"w": 2, "h": 1}.'
_PIXELS = f"must be a whole number from 1 to {MAX_PICTURE_SIDE:,}."
_CELLS = f"must be a whole number from 1 to {MAX_CELLS:,}."

# The rule of each field, used as the message whatever the value is: by its type, or by its name.
_RULES_BY_TYPE = {
    str: "must be a text.",
    str | None: "must be a text or null.",
    bool: "must be true or false.",
    bool | None: "must be true, false or null.",
    tuple[str, ...]: "must be a list of texts.",
}
_RULES = {
    "displayName": "must be a text that is not empty.",
    "downloadCount": _COUNT,
    "createdAt": _INSTANT,
    "versions": "must be a list of versions.",
    "bundleUrl": "must be an http or https address, without blanks.",
    "bundleFile": _FILE,
    "bundleSize": _COUNT,
    "sha256Hash": "must be 64 hexadecimal digits, in lower case.",
    "publishedAt": _INSTANT,
    "minSize": _SIZE,
    "maxSize": _SIZE,
    "w": _CELLS,
    "h": _CELLS,
    "configVersion": f"must be a whole number, at most {SAFE_INTEGER:,} from 0, or null.",
    "cssFile": _FILE,
    "files": "must be a list of files.",
    "path": "must be README.md, or a picture such as screenshots/light.png.",
    "file": _FILE,
    "width": _PIXELS,
    "height": _PIXELS,
    "revoked": 'must be like {"reason": "…", "at": "2026-01-31T09:05:00.000Z"}, or null.',
    "reason": "must be a text that is not empty.",
    "at": _INSTANT,
}

# Substitutes for required fields that are invalid or missing; the default is an empty text.
_STAND_INS: dict[str, Any] = {
    "displayName": "-",
    "reason": "-",
    "file": "-",
    **dict.fromkeys(("createdAt", "publishedAt", "at"), "2000-01-01T00:00:00Z"),
    "minSize": {"w": 1, "h": 1},
    "maxSize": {"w": 1, "h": 1},
    **dict.fromkeys(("w", "h"), 1),
}

_TOO_LONG = re.compile(r"Expected `str` of length <= (\d+)")
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

    errors: list[str]
    """Each a field and a sentence."""
    fields: frozenset[str]
    """The paths of these fields."""
    rest: dict[str, Any] | None
    """What is in the line, with something that fits in place of what does not."""


def find_misfits(line: bytes, error: Exception, shape: type[msgspec.Struct]) -> Misfits:
    """All errors of a line that cannot be decoded as this type. `error` is the decoder's message
    about the first one.
    """
    rules = _rules_of(shape)
    if isinstance(error, UnicodeDecodeError):
        return Misfits([_not_utf8(line)], frozenset(), None)
    try:
        parsed = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        parsed = None
    if isinstance(parsed, dict):
        fitting = _Fitting(rules)
        rest = fitting.fit_object(parsed, shape, "")
        if fitting.errors:
            return Misfits(fitting.errors, frozenset(fitting.fields), rest)
    return Misfits([_decoder_error(error, "", rules)], frozenset(), None)


def field_error(field: str, sentence: str) -> str:
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

    def __init__(self, rules: Mapping[str, str]) -> None:
        self._rules = rules
        self.errors: list[str] = []
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
                    prefix + key, field_error(prefix + key, _MISSING), _stand_in(key)
                )
        for key in value:
            if key not in fields:
                meant = find_similar(key, fields.keys() - value.keys())
                sentence = _UNKNOWN if meant is None else f"{_NO_FIELD}; did you mean {meant}?"
                self.errors.append(field_error(prefix + key, sentence))
        return fitted

    def _fit(self, value: Any, shape: Any, at: str, default: Any) -> Any:
        """The value, or the default if it is not of the type."""
        shape = _bare(shape) if value is not None else shape
        if _is_struct(shape) and isinstance(value, dict):
            return self.fit_object(value, shape, at)
        if get_origin(shape) is tuple and isinstance(value, list):
            item = get_args(shape)[0]
            instead = _required(item) if _is_struct(item) else ""
            return [self._fit(it, item, f"{at}[{i}]", instead) for i, it in enumerate(value)]
        try:
            msgspec.convert(value, shape)
        except msgspec.ValidationError as error:
            return self._replace(at, _decoder_error(error, at, self._rules), default)
        return value

    def _replace(self, at: str, sentence: str, instead: Any) -> Any:
        self.errors.append(sentence)
        self.fields.add(at)
        return instead


def _rules_of(shape: type[msgspec.Struct]) -> dict[str, str]:
    """The rules of the fields of an object, and of the objects in it."""
    rules: dict[str, str] = {}
    for field in msgspec.structs.fields(shape):
        bare = _bare(field.type)
        item = get_args(bare)[0] if get_origin(bare) is tuple else bare
        if _is_struct(item):
            rules |= _rules_of(item)
        elif rule := _RULES_BY_TYPE.get(_unconstrained(field.type)):
            rules[field.encode_name] = rule
    return rules | _RULES


def _bare(shape: Any) -> Any:
    """A type without null, and without its documentation. Constraints are kept."""
    args = get_args(shape)
    if len(args) == 2 and args[1] is type(None):
        return args[0]
    is_documented = get_origin(shape) is Annotated and get_origin(args[0]) is tuple
    return args[0] if is_documented else shape


def _unconstrained(shape: Any) -> Any:
    """A type without its constraints and documentation."""
    args = get_args(shape)
    if get_origin(shape) is Annotated:
        return _unconstrained(args[0])
    if get_origin(shape) is tuple:
        return GenericAlias(tuple, (_unconstrained(args[0]), ...))
    if len(args) == 2 and args[1] is type(None):
        return _unconstrained(args[0]) | None
    return shape


def _stand_in(key: str) -> Any:
    return _STAND_INS.get(key, "")


def _required(shape: type[msgspec.Struct]) -> dict[str, Any]:
    """An object with only its required fields."""
    fields = msgspec.structs.fields(shape)
    return {it.encode_name: _stand_in(it.encode_name) for it in fields if it.required}


def _is_struct(shape: Any) -> bool:
    return isinstance(shape, type) and issubclass(shape, msgspec.Struct)


def _decoder_error(error: Exception, at: str, rules: Mapping[str, str]) -> str:
    """The decoder's error message as a field and a sentence."""
    found = _COMPLAINT.match(str(error))
    sentence, below = found.group("sentence", "at") if found else (str(error), None)
    dot = "." if at and below and not below.startswith("[") else ""
    field = f"{at}{dot}{below or ''}"
    for pattern, ours in _SENTENCES:
        if about := pattern.match(sentence):
            return field_error(f"{field}.{about.group(1)}" if field else about.group(1), ours)
    if not field:
        is_proper = isinstance(error, msgspec.ValidationError)
        return "A line must be a JSON object." if is_proper else f"{sentence}."
    if too_long := _TOO_LONG.fullmatch(sentence):
        most = int(too_long[1])
        return field_error(field, f"is too long: at most {most:,} characters are allowed.")
    name = field.rpartition(".")[2]
    if name.startswith("versions["):
        return field_error(field, "must be an object.")
    # The decoder's own message, for a field that has no rule yet.
    return field_error(field, rules.get(name.partition("[")[0], f"{sentence}."))


def _not_utf8(line: bytes) -> str:
    try:
        parsed = msgspec.json.decode(line.decode(errors="replace"))
    except (msgspec.DecodeError, RecursionError):
        parsed = None
    at = next((at for at, text in _texts(parsed) if "\ufffd" in text), "")
    return field_error(at, "is not UTF-8.") if at else "The line is not UTF-8."


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
