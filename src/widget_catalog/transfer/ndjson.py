"""A widget as one line of NDJSON: what import reads, and all its checks."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar

import msgspec

from widget_contract.errors import InvalidName
from widget_contract.manifest_details import DETAIL_FIELDS, DETAIL_PARSERS, has_details
from widget_contract.manifest_texts import (
    clean_manifest,
    is_json_object,
    is_plain_manifest,
    manifest_text_errors,
)
from widget_contract.manifests import DECLARED_KEYS, declared
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
from widget_contract.version_files import (
    PICTURE_KINDS,
    is_attached,
    is_thumbnail,
    kind_of,
    lacks_thumbnail,
    path_conflicts,
    thumbnail_of,
)
from widget_contract.wire import Size

from ..catalog.model.text_limits import MAX_DETAIL_BYTES
from ..catalog.model.widgets import (
    AttachedFile,
    Revocation,
    Style,
    Version,
    Widget,
    in_order,
    newest_first,
)
from ..catalog.replica.rendering import measure_detail
from ..core.clock import iso
from ..core.errors import BundleNotFound, BundleRefused, InvalidWidget
from ..core.files.contract import Kind
from .line_errors import Misfits, field_error, find_misfits, is_below
from .line_shapes import FileLine, RevocationLine, VersionLine, WidgetLine

T = TypeVar("T")
S = TypeVar("S", str, str | None)


class ImportedBundle(NamedTuple):
    """Of a picture that was decoded, also its size in pixels, and the thumbnail made of it; of a
    README, the words that are searched.
    """

    sha256_hash: str
    size_bytes: int
    pixels: tuple[int, int] | None = None
    thumbnail: "ImportedBundle | None" = None
    words: str = ""


ImportBundle = Callable[[str, Kind, bool], ImportedBundle]
"""Imports the file with this name; returns its hash and size. The last argument says whether to
make a thumbnail of it.
"""

# Replaces an invalid value.
_ANY_VERSION = SemVer.parse("0.0.0")
_NO_BUNDLE = ImportedBundle("", 0)

_decode = msgspec.json.Decoder(WidgetLine).decode
# What a detail has of each version besides the texts of the line, at most.
_ADDED_BYTES = 1_000
# A character takes this many bytes of JSON, at most.
_CHARACTER_BYTES = 6


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
        self._line_bytes = len(line)
        # Printable ASCII without an escape, as in most lines: all texts are then valid.
        self._is_plain = line.isascii() and b"\\" not in line and b"\x7f" not in line

    def widget(self, line: WidgetLine) -> Widget:
        widget = Widget(
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
        self._check_detail(widget)
        return widget

    def _check_detail(self, widget: Widget) -> None:
        """Every reader downloads it. It is measured only if it may be too large."""
        shared = widget.display_name, widget.description or "", widget.icon or ""
        added = _ADDED_BYTES + _CHARACTER_BYTES * sum(map(len, shared))
        if self._line_bytes + len(widget.versions) * added <= MAX_DETAIL_BYTES:
            return
        size_bytes = measure_detail(widget)
        if size_bytes > MAX_DETAIL_BYTES:
            self._complain(
                "versions",
                f"with these {len(widget.versions):,}, the detail of the widget would have "
                f"{size_bytes:,} bytes; at most {MAX_DETAIL_BYTES:,} are allowed.",
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
        sha256_hash, bundle_size, *_ = self._bundle(line, at)
        style = None if line.css_file is None else self._file(at, "cssFile", line.css_file, "css")
        attached, words = self._attached(line.files, at) if line.files else ((), "")
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
            attached=attached,
            readme_words=words,
        )

    def _attached(
        self, lines: tuple[FileLine, ...], at: str
    ) -> tuple[tuple[AttachedFile, ...], str]:
        """The files in their order, each picture followed by its thumbnail, if there is one; and
        the words of the README.
        """
        words = ""
        files: dict[str, AttachedFile] = {}
        made: dict[str, AttachedFile] = {}
        named = {it.path for it in lines}
        for error in path_conflicts([it.path for it in lines if not is_thumbnail(it.path)]):
            self._complain(at, error)
        for i, line in enumerate(lines):
            place = f"{at}.files[{i}]"
            if not is_attached(line.path):
                self._complain(f"{place}.path", f"a version has no file {line.path[:80]!a}.")
                continue
            kind = kind_of(line.path)
            imported = self._file(place, "file", line.file, kind, lacks_thumbnail(line.path, named))
            if imported is None:
                continue
            words = imported.words or words
            width, height = imported.pixels or (line.width, line.height)
            if kind in PICTURE_KINDS and (width is None or height is None):
                self._complain(place, "width and height of the picture are missing.")
            size, sha256_hash = imported.size_bytes, imported.sha256_hash
            files[line.path] = AttachedFile(line.path, size, sha256_hash, width, height)
            if imported.thumbnail is not None:
                path, its = thumbnail_of(line.path), imported.thumbnail
                pixels = its.pixels or (None, None)
                made[path] = AttachedFile(path, its.size_bytes, its.sha256_hash, *pixels)
        return in_order({**made, **files}), words

    def _declared(self, line: VersionLine, at: str) -> dict[str, Any]:
        """The declared fields, with all their texts checked: each is one line, unless another rule
        is given here."""
        fields = declared(line)
        fields["min_size"] = Size(line.min_size.w, line.min_size.h)
        fields["max_size"] = Size(line.max_size.w, line.max_size.h)
        for name in DETAIL_FIELDS if has_details(line) else ():
            fields[name], errors = DETAIL_PARSERS[name](fields[name])
            for place, sentence in errors:
                self._complain(f"{at}.{DECLARED_KEYS[name]}{place}", sentence)
        if self._is_plain:
            return fields
        rules = {"displayName": self._name, "releaseNotes": self._text}
        for name, key in DECLARED_KEYS.items():
            value = fields.get(name)
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

    def _bundle(self, line: VersionLine, at: str) -> ImportedBundle:
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
            return ImportedBundle(sha256_hash, bundle_size)
        return _NO_BUNDLE

    def _file(
        self, at: str, key: str, file: str, kind: Kind, makes_thumbnail: bool = False
    ) -> ImportedBundle | None:
        try:
            return self._import_bundle(file, kind, makes_thumbnail)
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
        if text is None:
            return None
        if "\0" in text:
            return self._text(at, "manifest", text)
        if not self._rules.is_lenient and not is_json_object(text):
            self._complain(
                f"{at}.manifest",
                "is not a JSON object. Give --lenient to import it; it is not shown.",
            )
            return text
        if is_plain_manifest(text):
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
