"""A manifest, which describes a version, and its validation.

The service and the authors' tool share this module, so that they cannot disagree.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from typing import Any, TypeVar

import msgspec

from .capabilities import parse_capabilities, with_capabilities
from .errors import InvalidManifest, InvalidName
from .manifest_texts import manifest_text_errors
from .names import Scope, WidgetName, is_name
from .semver import InvalidRange, InvalidVersion, Range, SemVer
from .texts import joined_lines, line_error, name_error, text_error
from .wire import Size
from .wire_running import KEYWORD, Capability, DeclaredDetails

T = TypeVar("T")

DetailParser = Callable[[object], tuple[Any, list[tuple[str, str]]]]
"""Parses the value of a manifest, None if there is none. Returns what is valid of it, and all
errors: where in the value, such as `[1]` or nothing, and a sentence.
"""

MAX_MANIFEST_BYTES = 65_536
DEFAULT_MAIN = "index.js"
MAX_DISPLAY_NAME = 100
MAX_DESCRIPTION = 1_000
MAX_RELEASE_NOTES = 20_000
MAX_CELLS = 100
MAX_PERMISSIONS = 50
MAX_KEYWORDS = 10
_MAX_LICENSE = 200
_SAFE_INTEGER = 2**53 - 1

_ICON = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*:[a-z0-9]+(?:-[a-z0-9]+)*\Z")
_PERMISSION = re.compile(r"[a-z0-9][a-z0-9:._/*-]{0,99}\Z")
_KEYWORD = re.compile(KEYWORD)
_KEYWORD_RULE = "use 2 to 30 lowercase letters, digits and hyphens, such as time-zone."
_FILE = re.compile(r"(?!\.\.?(?:/|\Z))[^/\\\x00-\x1f]+(?:/(?!\.\.?(?:/|\Z))[^/\\\x00-\x1f]+)*\Z")


class Declared(DeclaredDetails, frozen=True, kw_only=True):
    """What the manifest declares, and the catalog shows: fields of `wire.VersionEntry`, and those
    of `DeclaredDetails`.

    In the catalog, None means the widget's own value, for texts that the widget also has.
    """

    release_notes: str | None = None
    display_name: str | None = None
    description: str | None = None
    icon: str | None = None
    min_size: Size
    max_size: Size
    sdk_version: str
    config_version: int | None = None
    permissions: tuple[str, ...] = ()
    license: str | None = None


DECLARED_KEYS = {it.name: it.encode_name for it in msgspec.structs.fields(Declared)}
"""The JSON names of the declared fields."""
DETAIL_FIELDS = DeclaredDetails.__struct_fields__
_ENTRY_FIELDS = [it for it in DECLARED_KEYS if it not in DETAIL_FIELDS]
_ENTRY_KEYS = [DECLARED_KEYS[it] for it in _ENTRY_FIELDS]
# Fast: an import reads millions.
_declared_values = attrgetter(*DECLARED_KEYS)
_entry_values = attrgetter(*_ENTRY_FIELDS)
_DETAILS = [(it.name, it.encode_name, it.default) for it in msgspec.structs.fields(DeclaredDetails)]
_NO_DETAILS = [default for _, _, default in _DETAILS]

_SEARCHED = [
    it.name
    for it in msgspec.structs.fields(DeclaredDetails)
    if any(meta.extra["is_searched"] for meta in it.type.__metadata__)
]


def declared(of: Declared) -> dict[str, Any]:
    """The declared fields of a manifest or version, by name."""
    # Not strict, which would take 50% longer: both come from the same tuple.
    return dict(zip(DECLARED_KEYS, _declared_values(of), strict=False))


def declared_json(of: Declared) -> dict[str, Any]:
    """The declared fields of a version by their JSON names; details only if it has them."""
    return {**dict(zip(_ENTRY_KEYS, _entry_values(of), strict=False)), **details_of(of)}


def details_of(it: DeclaredDetails) -> dict[str, Any]:
    """The details that a version has, by their JSON names."""
    values = [getattr(it, name) for name in DETAIL_FIELDS]
    if values == _NO_DETAILS:  # Most have none, and an import asks twice for each version.
        return {}
    every = zip(_DETAILS, values, strict=True)
    return {key: value for (_, key, default), value in every if value != default}


def searched_texts(it: DeclaredDetails) -> Iterator[str]:
    """The texts that pages search, in addition to names and descriptions."""
    for name in _SEARCHED:
        value = getattr(it, name)
        yield from (value,) if isinstance(value, str) else value or ()


def details_in(manifest: str) -> dict[str, Any]:
    """The valid details of a stored manifest, which may be any text, by name."""
    # Most have none, and searching is faster than decoding.
    if not any(key in manifest for _, key, _ in _DETAILS):
        return {}
    try:
        found = msgspec.json.decode(manifest)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return {}
    stated = found if isinstance(found, dict) else {}
    return {name: DETAIL_PARSERS[name](stated.get(key))[0] for name, key, _ in _DETAILS}


class Manifest(Declared, frozen=True, kw_only=True):
    """The fields of a manifest that the catalog uses. Its text has the rest."""

    text: str
    name: WidgetName
    version: SemVer
    display_name: str
    scope: Scope | None = None
    main: str = DEFAULT_MAIN
    style: str | None = None


def parse_manifest(text: str, request: Mapping[str, object] | None = None) -> Manifest:
    """Parse a manifest; raises InvalidManifest with all errors.

    `request` has the fields of a publish request. They take precedence over the manifest, but
    `version` and `sdkVersion` must agree. The manifest's `name` may then be a display name: the
    slug is the request's.
    """
    found = _read_object(text)
    manifest, requested = _said(found), _said(request or {})
    reader = _Reader({**manifest, **requested})
    is_name_for_people = request is not None and _is_name_for_people(manifest, requested)
    for key in _AGREED:
        if key in manifest and key in requested and manifest[key] != requested[key]:
            said, wanted = _shown(manifest[key]), _shown(requested[key])
            reader.complain(key, f"the manifest says {said}, but the request says {wanted}.")
    has_scope = request is not None or reader.has("scope")
    fields: dict[str, Any] = {
        "name": reader.parsed("name", WidgetName.parse),
        "version": reader.parsed("version", SemVer.parse),
        "scope": reader.parsed("scope", Scope.parse) if has_scope else None,
        "display_name": reader.display_name(manifest["name"] if is_name_for_people else None),
        "description": reader.joined_line("description", MAX_DESCRIPTION),
        "icon": reader.matching("icon", _ICON, _ICON_RULE),
        "min_size": reader.size("minSize"),
        "max_size": reader.size("maxSize"),
        "sdk_version": reader.parsed("sdkVersion", _sdk_range),
        "permissions": with_capabilities(reader.permissions("permissions"), reader.capabilities()),
        "license": reader.line("license", _MAX_LICENSE),
        "release_notes": reader.text("releaseNotes", MAX_RELEASE_NOTES),
        "config_version": reader.whole_number("configVersion"),
    }
    for name, key, _ in _DETAILS:
        fields[name] = reader.detail(name, key)
    if request is None:  # File names matter only in the folder.
        fields["main"] = reader.matching("main", _FILE, _FILE_RULE) or DEFAULT_MAIN
        fields["style"] = reader.matching("style", _FILE, _FILE_RULE)
    smallest, largest = fields["min_size"], fields["max_size"]
    if smallest and largest and (smallest.w > largest.w or smallest.h > largest.h):
        reader.complain("minSize", "must not be larger than maxSize.")
    told = {it.partition(":")[0] for it in reader.errors}
    if _NAME_FOR_PEOPLE in told:
        told.add("name")
    inside = [it for it in manifest_text_errors(found) if it.partition(":")[0] not in told]
    if errors := [*reader.errors, *inside]:
        raise InvalidManifest(errors)
    return Manifest(text=text, **fields)


_AGREED = ("version", "sdkVersion")
_NAME_FOR_PEOPLE = "name in the manifest"
_OPTIONAL_TEXTS = ("description", "icon", "license", "releaseNotes")
_ICON_RULE = "must be an Iconify name, such as mdi:clock."
_FILE_RULE = "must be a file below the manifest's folder, such as index.js."


def _is_name_for_people(manifest: Mapping[str, Any], requested: Mapping[str, Any]) -> bool:
    """Whether the manifest is in the dialect of other tools, in which `name` is the display name
    and the slug is only in the request."""
    name = manifest.get("name")
    if not isinstance(name, str) or "displayName" in manifest:
        return False
    if "displayName" in requested:
        return bool(name == requested["displayName"])
    return bool(name != requested["name"]) if "name" in requested else not is_name(name)


def _said(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values without absent ones: null, and empty optional texts."""
    said = {key: value for key, value in values.items() if value is not None}
    for key in _OPTIONAL_TEXTS:
        value = said.get(key)
        if value == "" or (key == "description" and isinstance(value, str) and _is_breaks(value)):
            del said[key]
    return said


def _is_breaks(text: str) -> bool:
    """Whether a text consists only of line breaks."""
    return not joined_lines(text)


def _read_object(text: str) -> dict[str, Any]:
    try:
        size_bytes = len(text.encode())
        if size_bytes > MAX_MANIFEST_BYTES:
            most = f"at most {MAX_MANIFEST_BYTES:,} are allowed"
            raise InvalidManifest([f"the manifest has {size_bytes:,} bytes; {most}."])
        found = msgspec.json.decode(text)
    except UnicodeEncodeError:
        raise InvalidManifest(["the manifest is not proper Unicode text."]) from None
    except msgspec.DecodeError:
        raise InvalidManifest([f"the manifest is not JSON: {_where(text)}"]) from None
    except RecursionError:
        raise InvalidManifest(["the manifest is nested too deeply."]) from None
    if not isinstance(found, dict):
        raise InvalidManifest(["the manifest must be a JSON object."])
    return found


def _where(text: str) -> str:
    """The position of a JSON syntax error. The standard library reports line and column, but is
    more lenient in a few cases."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return f"look at line {error.lineno:,}, column {error.colno:,}."
    except (ValueError, RecursionError):
        pass
    return "it holds a number or a character that cannot be read."


def _sdk_range(text: str) -> str:
    if Range.parse(text).is_any:
        raise InvalidRange("must name the SDK it was made for, such as ^2.0.0, not any.")
    return text


class _Reader:
    """Reads keys one by one and collects their errors."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self.errors: list[str] = []

    def has(self, key: str) -> bool:
        return self._values.get(key) is not None

    def complain(self, key: str, sentence: str) -> None:
        self.errors.append(f"{key}: {sentence}")

    # Invalid values are None, which is never returned: an error is raised.
    def parsed(self, key: str, parse: Callable[[str], T]) -> T | Any:
        text = self._string(key, is_required=True)
        if text is None:
            return None
        try:
            return parse(text)
        except (InvalidName, InvalidVersion, InvalidRange) as error:
            self.complain(key, str(error))
            return None

    def display_name(self, name_for_people: str | None) -> str | Any:
        """The latter is the manifest's `name`, if that is the display name: its errors are
        reported under the key that the manifest has."""
        if name_for_people is not None:
            return self._checked(_NAME_FOR_PEOPLE, name_for_people, name_error, MAX_DISPLAY_NAME)
        text = self._string("displayName", is_required=True)
        return self._checked("displayName", text, name_error, MAX_DISPLAY_NAME)

    def line(self, key: str, max_length: int) -> str | None:
        return self._checked(key, self._string(key), line_error, max_length)

    def joined_line(self, key: str, max_length: int) -> str | None:
        text = self._string(key)
        return self._checked(key, text and joined_lines(text), line_error, max_length)

    def text(self, key: str, max_length: int) -> str | None:
        return self._checked(key, self._string(key), text_error, max_length)

    def matching(self, key: str, pattern: re.Pattern[str], rule: str) -> str | None:
        text = self._string(key)
        if text is not None and (len(text) > 200 or not pattern.match(text)):
            self.complain(key, rule)
        return text

    def size(self, key: str) -> Size | Any:
        match self._values.get(key):
            case None:
                self.complain(key, "is missing.")
                return None
            case {"w": int(w), "h": int(h)} if _is_cells(w) and _is_cells(h):
                return Size(w, h)
        sentence = f'must be like {{"w": 2, "h": 1}}, in whole cells from 1 to {MAX_CELLS}.'
        self.complain(key, sentence)
        return None

    def permissions(self, key: str) -> tuple[str, ...]:
        found = self._values.get(key)
        if found is None:
            return ()
        if not isinstance(found, list) or len(found) > MAX_PERMISSIONS:
            self.complain(key, f"must be a list of at most {MAX_PERMISSIONS} permissions.")
            return ()
        wrong = [it for it in found if not (isinstance(it, str) and _PERMISSION.match(it))]
        for it in wrong[:3]:
            self.complain(key, f"{_shown(it)} is not a permission, such as network or storage.")
        if not wrong and len(set(found)) < len(found):
            self.complain(key, "names a permission twice.")
        return tuple(it for it in found if isinstance(it, str))

    def capabilities(self) -> tuple[Capability, ...]:
        found, errors = parse_capabilities(self._values.get("capabilities"))
        self.errors += errors
        return found

    def detail(self, name: str, key: str) -> Any:
        found, errors = DETAIL_PARSERS[name](self._values.get(key))
        for at, sentence in errors:
            self.complain(f"{key}{at}", sentence)
        return found

    def whole_number(self, key: str) -> int | None:
        found = self._values.get(key)
        if found is None:
            return None
        if type(found) is not int or not 0 <= found <= _SAFE_INTEGER:
            self.complain(key, "must be a whole number, 0 or more.")
            return None
        return found

    def _string(self, key: str, *, is_required: bool = False) -> str | None:
        found = self._values.get(key)
        if found is None:
            if is_required:
                self.complain(key, "is missing.")
            return None
        if not isinstance(found, str):
            self.complain(key, "must be a text.")
            return None
        return found

    def _checked(
        self,
        key: str,
        text: str | None,
        error_of: Callable[[str, int], str | None],
        max_length: int,
    ) -> str | None:
        if text is not None and (error := error_of(text, max_length)):
            self.complain(key, error)
        return text


def _is_cells(number: int) -> bool:
    return type(number) is int and 1 <= number <= MAX_CELLS


def _shown(value: object) -> str:
    """A value for a message: shortened, without control characters."""
    try:
        shown = ascii(value)
    except RecursionError:  # Nested as deeply as the decoder allows, which needs less of the stack.
        return "a deeply nested value"
    return shown if len(shown) <= 80 else f"{shown[:80]}…"


def parse_keywords(stated: object) -> tuple[tuple[str, ...], list[tuple[str, str]]]:
    """At most MAX_KEYWORDS, without duplicates."""
    if stated is None:
        return (), []
    if not isinstance(stated, list | tuple):
        return (), [("", 'must be a list of keywords, such as ["clock", "time-zone"].')]
    valid, errors = dict[str, None](), []
    for i, it in enumerate(stated[:MAX_KEYWORDS]):
        if not isinstance(it, str) or not _KEYWORD.fullmatch(it):
            errors.append((f"[{i}]", f"{_shown(it)} is not a keyword: {_KEYWORD_RULE}"))
        elif it in valid:
            errors.append((f"[{i}]", f"{it} is given twice."))
        else:
            valid[it] = None
    if len(stated) > MAX_KEYWORDS:
        errors = [("", f"must not have more than {MAX_KEYWORDS} keywords."), *errors]
    return tuple(valid), errors[:3]


# By the name of the field.
DETAIL_PARSERS: dict[str, DetailParser] = {"keywords": parse_keywords}
