"""A widget as one line of NDJSON: what import reads, and all its checks."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec
from msgspec import Meta

from widget_contract.errors import InvalidName
from widget_contract.manifest_details import DETAIL_FIELDS, DETAIL_PARSERS
from widget_contract.manifest_texts import (
    clean_manifest,
    is_plain_manifest,
    manifest_text_errors,
)
from widget_contract.manifests import DECLARED_KEYS, Declared, declared
from widget_contract.names import Scope, WidgetName
from widget_contract.semver import InvalidVersion, SemVer, SortKey
from widget_contract.texts import (
    clean_line,
    clean_name,
    clean_text,
    line_unwanted,
    name_unwanted,
    text_unwanted,
)
from widget_contract.wire import Size

from ..catalog.widgets import Revocation, Style, Version, Widget, newest_first
from ..core.clock import iso
from ..core.errors import BundleNotFound, BundleRefused, InvalidWidget
from ..core.files.contract import Kind
from .line_errors import MAX_CELLS, SAFE_INTEGER, Misfits, field_error, find_misfits, is_below

T = TypeVar("T")
S = TypeVar("S", str, str | None)

Text = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=0, le=SAFE_INTEGER)]
Integer = Annotated[int, Meta(ge=-SAFE_INTEGER, le=SAFE_INTEGER)]
Cells = Annotated[int, Meta(ge=1, le=MAX_CELLS)]
Url = Annotated[str, Meta(pattern=r"^https?://[^\s]+\Z")]
Sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
Instant = Annotated[datetime, Meta(tz=True)]


class GridSize(Size, frozen=True, forbid_unknown_fields=True):
    w: Cells
    h: Cells


class RevocationLine(msgspec.Struct, rename="camel", frozen=True, forbid_unknown_fields=True):
    """Reason and time of a revocation, and whether the author has yanked the version as well."""

    reason: Text
    at: Instant
    yanked: bool = False
    yanked_reason: str | None = None


class VersionLine(Declared, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`bundleFile`, a path relative to the NDJSON file, replaces `bundleUrl`.

    `cssFile`, `manifest`, `revoked` and details are present only if a version has them. A revoked
    version counts as yanked, for readers that do not know revocations.
    """

    version: str
    bundle_url: Url | None = None
    bundle_file: Text | None = None
    bundle_size: Count | None = None
    sha256_hash: Sha256 | None = None
    published_at: Instant
    yanked: bool = False
    yanked_reason: str | None = None
    deprecation_message: str | None = None
    display_name: Text | None = None
    min_size: GridSize
    max_size: GridSize
    config_version: Integer | None = None
    css_file: Text | None = None
    manifest: str | None = None
    revoked: RevocationLine | None = None


class WidgetLine(msgspec.Struct, rename="camel", kw_only=True, forbid_unknown_fields=True):
    scope: str
    name: str
    display_name: Text
    description: str | None = None
    icon: str | None = None
    is_official: bool | None = None
    listed: bool = True
    download_count: Count | None = None
    created_at: Instant
    versions: tuple[VersionLine, ...] = ()


class _ScopeLine(msgspec.Struct):
    scope: str


class _VersionFiles(msgspec.Struct, rename="camel"):
    bundle_file: str | None = None
    css_file: str | None = None


class _FilesLine(msgspec.Struct):
    versions: tuple[_VersionFiles, ...] = ()


class ImportedBundle(NamedTuple):
    sha256_hash: str
    size_bytes: int


ImportBundle = Callable[[str, Kind], ImportedBundle]
"""Imports the file with this name; returns its hash and size."""

# Replaces an invalid value.
_ANY_VERSION = SemVer.parse("0.0.0")
_NO_BUNDLE = ImportedBundle("", 0)

_decode = msgspec.json.Decoder(WidgetLine).decode
_decode_scope = msgspec.json.Decoder(_ScopeLine).decode
_decode_files = msgspec.json.Decoder(_FilesLine).decode


class Rules(NamedTuple):
    """Rules of a line that depend on the time and mode of the import."""

    # A version dated in the future would stay the newest for a long time.
    newest: datetime
    # Remove unwanted characters of old data instead of reporting them.
    is_lenient: bool = False


class Decoded(NamedTuple):
    widget: Widget
    downloads: int
    texts_cleaned: int


def decode_line(line: bytes, import_bundle: ImportBundle, rules: Rules) -> Decoded:
    """The content of this line, or InvalidWidget with all errors."""
    try:
        parsed = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        misfits = find_misfits(line, error, WidgetLine)
        more = _errors_of_rest(line, misfits, import_bundle, rules)
        raise InvalidWidget([*misfits.errors, *more]) from None
    reader = _LineReader(line, import_bundle, rules)
    widget = reader.widget(parsed)
    if reader.errors:
        raise InvalidWidget(reader.errors)
    return Decoded(widget, parsed.download_count or 0, reader.texts_cleaned)


def _errors_of_rest(
    line: bytes, misfits: Misfits, import_bundle: ImportBundle, rules: Rules
) -> list[str]:
    """The errors in the rest of a line that cannot be decoded."""
    if misfits.rest is None:
        return []
    reader = _LineReader(line, import_bundle, rules, misfits.fields)
    reader.widget(msgspec.convert(misfits.rest, WidgetLine))
    return reader.errors


def scope_in(line: bytes) -> Scope | None:
    """The scope of a line, whatever other errors it has."""
    try:
        return Scope.parse(_decode_scope(line).scope)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, InvalidName):
        return None


def files_in(line: bytes) -> Iterator[tuple[str, Kind]]:
    """The files that a line names; none if it cannot be decoded."""
    try:
        versions = _decode_files(line).versions
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return
    for it in versions:
        if it.bundle_file is not None:
            yield it.bundle_file, "js"
        if it.css_file is not None:
            yield it.css_file, "css"


class _LineReader:
    """Builds a widget from a parsed line, and collects errors.

    Invalid values are replaced by others; the widget is not used then. Fields in `known_wrong` are
    not reported again.
    """

    def __init__(
        self,
        line: bytes,
        import_bundle: ImportBundle,
        rules: Rules,
        known_wrong: frozenset[str] = frozenset(),
    ) -> None:
        self.errors: list[str] = []
        self._known_wrong = known_wrong
        self.texts_cleaned = 0
        self._import_bundle = import_bundle
        self._rules = rules
        # Printable ASCII without an escape, as in most lines: all texts are then valid.
        self._is_plain = line.isascii() and b"\\" not in line and b"\x7f" not in line

    def widget(self, line: WidgetLine) -> Widget:
        return Widget(
            scope=self._parsed("", "scope", Scope.parse, line.scope) or Scope("-"),
            name=self._parsed("", "name", WidgetName.parse, line.name) or WidgetName("-"),
            display_name=self._name("", "displayName", line.display_name),
            description=self._line("", "description", line.description),
            icon=self._line("", "icon", line.icon),
            is_official=line.is_official,
            is_listed=line.listed,
            created_at=self._instant("", "createdAt", line.created_at),
            versions=newest_first(self._versions(line)),
        )

    def _versions(self, line: WidgetLine) -> list[Version]:
        seen: set[SortKey] = set()
        versions = []
        for i, version in enumerate(line.versions):
            at = f"versions[{i}]"
            number = self._parsed(at, "version", SemVer.parse, version.version)
            if number is None:
                number = _ANY_VERSION
            elif number.sort_key in seen:
                self._complain(f"{at}.version", f"{number} is given twice.")
            else:
                seen.add(number.sort_key)
            versions.append(self._version(number, version, at))
        return versions

    def _version(self, number: SemVer, line: VersionLine, at: str) -> Version:
        sha256_hash, bundle_size = self._bundle(line, at)
        style = None if line.css_file is None else self._file(at, "cssFile", line.css_file, "css")
        revoked = line.revoked
        yanked_by_author = line if revoked is None else revoked
        bundle_url = self._line(at, "bundleUrl", line.bundle_url)
        published_at = self._instant(at, "publishedAt", line.published_at)
        yanked_reason = self._line(at, "yankedReason", yanked_by_author.yanked_reason)
        deprecation_message = self._line(at, "deprecationMessage", line.deprecation_message)
        return Version(
            version=number,
            bundle_url=bundle_url,
            bundle_size=bundle_size,
            sha256_hash=sha256_hash,
            published_at=published_at,
            is_yanked=yanked_by_author.yanked,
            yanked_reason=yanked_reason,
            deprecation_message=deprecation_message,
            **self._declared(line, at),
            style=None if style is None else Style(style.size_bytes, style.sha256_hash),
            manifest=self._manifest(at, line.manifest),
            revocation=None if revoked is None else self._revocation(revoked, f"{at}.revoked"),
        )

    def _declared(self, line: VersionLine, at: str) -> dict[str, Any]:
        """The declared fields, with all their texts checked: each is one line, unless another rule
        is given here."""
        fields = declared(line)
        fields["min_size"] = Size(line.min_size.w, line.min_size.h)
        fields["max_size"] = Size(line.max_size.w, line.max_size.h)
        for name in DETAIL_FIELDS:
            fields[name], errors = DETAIL_PARSERS[name](fields[name])
            for place, sentence in errors:
                self._complain(f"{at}.{DECLARED_KEYS[name]}{place}", sentence)
        if self._is_plain:
            return fields
        rules = {"displayName": self._name, "releaseNotes": self._text}
        for name, key in DECLARED_KEYS.items():
            value = fields[name]
            if name == "readme":  # Pages sanitize it.
                continue
            if isinstance(value, str):
                fields[name] = rules.get(key, self._line)(at, key, value)
            elif isinstance(value, tuple):
                items = enumerate(value)
                fields[name] = tuple(self._line(at, f"{key}[{i}]", it) for i, it in items)
        return fields

    def _revocation(self, line: RevocationLine, at: str) -> Revocation:
        return Revocation(self._line(at, "reason", line.reason), self._instant(at, "at", line.at))

    def _bundle(self, line: VersionLine, at: str) -> tuple[str, int]:
        """Its hash and size."""
        sha256_hash, bundle_size, file = line.sha256_hash, line.bundle_size, line.bundle_file
        if file is not None and line.bundle_url is not None:
            self._complain(at, "give bundleUrl or bundleFile, not both.")
        elif file is not None:
            imported = self._file(at, "bundleFile", file, "js")
            if imported is not None and sha256_hash not in (None, imported.sha256_hash):
                self._complain(f"{at}.sha256Hash", f"{file} has {imported.sha256_hash}.")
            if imported is not None and bundle_size not in (None, imported.size_bytes):
                self._complain(f"{at}.bundleSize", f"{file} has {imported.size_bytes} bytes.")
            return imported or _NO_BUNDLE
        elif line.bundle_url is None:
            if not self._known_wrong & {f"{at}.bundleUrl", f"{at}.bundleFile"}:
                self._complain(at, "has neither bundleUrl nor bundleFile.")
        elif sha256_hash is None:
            self._complain(f"{at}.sha256Hash", "is missing; it goes with bundleUrl.")
        elif bundle_size is None:
            self._complain(f"{at}.bundleSize", "is missing; it goes with bundleUrl.")
        else:
            return sha256_hash, bundle_size
        return _NO_BUNDLE

    def _file(self, at: str, key: str, file: str, kind: Kind) -> ImportedBundle | None:
        try:
            return self._import_bundle(file, kind)
        except (BundleNotFound, BundleRefused) as error:
            self._complain(f"{at}.{key}", error.message)
            return None

    def _parsed(self, at: str, key: str, parse: Callable[[str], T], text: str) -> T | None:
        try:
            return parse(text)
        except (InvalidName, InvalidVersion) as error:
            self._complain(_field(at, key), str(error))
            return None

    def _instant(self, at: str, key: str, instant: datetime) -> datetime:
        """Times are whole milliseconds in UTC, so that the displayed time determines the order."""
        try:
            utc = instant if instant.tzinfo is UTC else instant.astimezone(UTC)
        except OverflowError:
            self._complain(_field(at, key), "in UTC, this is not in the years 1 to 9999.")
            return instant
        if utc > self._rules.newest:
            self._complain(_field(at, key), f"{iso(utc)} is in the future.")
        beyond_ms = utc.microsecond % 1000
        return utc.replace(microsecond=utc.microsecond - beyond_ms) if beyond_ms else utc

    def _name(self, at: str, key: str, text: S) -> S:
        return self._checked(at, key, text, name_unwanted, clean_name)

    def _line(self, at: str, key: str, text: S) -> S:
        return self._checked(at, key, text, line_unwanted, clean_line)

    def _text(self, at: str, key: str, text: S) -> S:
        return self._checked(at, key, text, text_unwanted, clean_text)

    def _manifest(self, at: str, text: str | None) -> str | None:
        """Stored as its author wrote it, but databases reject NUL, and texts that people read must
        not be deceptive.
        """
        if text is not None and "\0" in text:
            return self._text(at, "manifest", text)
        if text is None or is_plain_manifest(text):
            return text
        cleaned = clean_manifest(text)
        if cleaned != text:
            self.texts_cleaned += 1
            if not self._rules.is_lenient:
                first = manifest_text_errors(msgspec.json.decode(text))[0]
                self._complain(f"{at}.manifest", f"{first} Give --lenient to clean such texts.")
        return cleaned

    def _checked(
        self,
        at: str,
        key: str,
        text: S,
        error_of: Callable[[str], str | None],
        clean: Callable[[str], str],
    ) -> S:
        if text is None or self._is_plain:
            return text
        if text.isascii() and text.isprintable():
            return text
        cleaned = clean(text)  # Takes about 10 µs, so only for texts that may need it.
        if cleaned == text:
            return text
        self.texts_cleaned += 1
        if not self._rules.is_lenient:
            self._complain(_field(at, key), f"{error_of(text)} Give --lenient to clean such texts.")
        elif not cleaned and clean is clean_name:
            self._complain(_field(at, key), "must not be empty.")
        return cleaned

    def _complain(self, field: str, sentence: str) -> None:
        if not is_below(field, self._known_wrong):
            self.errors.append(field_error(field, sentence))


def _field(at: str, key: str) -> str:
    return f"{at}.{key}" if at else key
