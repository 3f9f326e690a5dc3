"""A manifest, which describes a version, and its validation.

The service and the authors' tool share this module, so that they cannot disagree.
"""

import json
import re
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, TypeVar

import msgspec

from .capabilities import parse_capabilities, with_capabilities
from .described import FILE, ICON, PERMISSION
from .errors import InvalidManifest, InvalidName
from .manifest_details import (
    DETAIL_FIELDS,
    DETAIL_KEYS,
    DETAIL_PARSERS,
    MAX_DESCRIPTION,
    MAX_DISPLAY_NAME,
    DeclaredDetails,
    details_of,
    has_details,
    shown,
)
from .manifest_texts import manifest_text_errors
from .names import Scope, WidgetName, is_name
from .semver import InvalidRange, InvalidVersion, Range, SemVer
from .texts import joined_lines, line_error, name_error, text_error
from .version_files import MAX_README_BYTES
from .wire import Size
from .wire_running import Capability

T = TypeVar("T")

MAX_MANIFEST_BYTES = 65_536
"""Without the readme, which has its own limit."""
MAX_MANIFEST_TEXT_BYTES = MAX_MANIFEST_BYTES + 6 * MAX_README_BYTES
"""With the longest readme, written with as many escape sequences as possible."""
DEFAULT_MAIN = "index.js"
MAX_RELEASE_NOTES = 20_000
MAX_CELLS = 100
MAX_PERMISSIONS = 50
MAX_LICENSE = 200
MAX_MATCHED = 200
"""Characters of an icon or a file name."""
SAFE_INTEGER = 2**53 - 1

_ICON, _PERMISSION, _FILE = map(re.compile, (ICON, PERMISSION, FILE))


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
_ENTRY_FIELDS = [it for it in DECLARED_KEYS if it not in DETAIL_FIELDS]
_ENTRY_KEYS = [DECLARED_KEYS[it] for it in _ENTRY_FIELDS]
# Fast: an import reads millions.
_declared_values = attrgetter(*DECLARED_KEYS)
_entry_values = attrgetter(*_ENTRY_FIELDS)


def declared(of: Declared) -> dict[str, Any]:
    """The declared fields of a manifest or version, by name; details only if it has any."""
    # Not strict, which would take 50% longer: both come from the same tuple.
    if has_details(of):
        return dict(zip(DECLARED_KEYS, _declared_values(of), strict=False))
    return dict(zip(_ENTRY_FIELDS, _entry_values(of), strict=False))


def declared_json(of: Declared) -> dict[str, Any]:
    """The declared fields of a version by their JSON names; details only if it has them."""
    return {**dict(zip(_ENTRY_KEYS, _entry_values(of), strict=False)), **details_of(of)}


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
            said, wanted = shown(manifest[key]), shown(requested[key])
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
        "license": reader.line("license", MAX_LICENSE),
        "release_notes": reader.text("releaseNotes", MAX_RELEASE_NOTES),
        "config_version": reader.whole_number("configVersion"),
    }
    for name, key in DETAIL_KEYS.items():
        fields[name] = reader.detail(name, key)
    reader.check_kept()
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
# Keys that the catalog only keeps, and dashboards read.
_OBJECTS = ("configSchema", "schema", "defaultConfig")
_OPTIONAL_TEXTS = ("description", "icon", "license", "releaseNotes")
_ICON_RULE = "must be an Iconify name, such as mdi:clock."
_PERMISSION_RULE = "is not a permission, such as storage or network:api.example."
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
            size_bytes -= _readme_bytes(text) if size_bytes <= MAX_MANIFEST_TEXT_BYTES else 0
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


class _WithReadme(msgspec.Struct):
    readme: msgspec.Raw = msgspec.Raw()


def _readme_bytes(text: str) -> int:
    """The size of the readme as it is written in a manifest."""
    try:
        return len(bytes(msgspec.json.decode(text, type=_WithReadme).readme))
    except (msgspec.MsgspecError, RecursionError):
        return 0


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
        if text is not None and (len(text) > MAX_MATCHED or not pattern.fullmatch(text)):
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
        wrong = [it for it in found if not (isinstance(it, str) and _PERMISSION.fullmatch(it))]
        for name in wrong[:3]:
            self.complain(key, f"{shown(name)} {_PERMISSION_RULE}")
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

    def check_kept(self) -> None:
        """The types of keys that the catalog only keeps."""
        for key in _OBJECTS:
            if self.has(key) and not isinstance(self._values[key], dict):
                self.complain(key, "must be an object.")
        if self.has("isOfficial") and not isinstance(self._values["isOfficial"], bool):
            self.complain("isOfficial", "must be true or false.")
        if self.has("defaultSize"):
            self.size("defaultSize")

    def whole_number(self, key: str) -> int | None:
        found = self._values.get(key)
        if found is None:
            return None
        if type(found) is not int or not 0 <= found <= SAFE_INTEGER:
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
