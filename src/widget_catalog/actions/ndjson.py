"""A widget as one line of NDJSON: what import reads and export writes, and all checks of it."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec
from msgspec import Meta

from ..bundles.store import Kind
from ..domain.clock import iso
from ..domain.errors import CatalogError, InvalidName, InvalidWidget
from ..domain.names import Scope, WidgetName
from ..domain.semver import InvalidVersion, SemVer, SortKey
from ..domain.widgets import Size, Style, Version, Widget
from .line_faults import MAX_CELLS, SAFE_INTEGER, fault_of, refuse_nul

T = TypeVar("T")

Text = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=0, le=SAFE_INTEGER)]
Integer = Annotated[int, Meta(ge=-SAFE_INTEGER, le=SAFE_INTEGER)]
Cells = Annotated[int, Meta(ge=1, le=MAX_CELLS)]
Url = Annotated[str, Meta(pattern=r"^https?://[^\s]+\Z")]
Sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
Instant = Annotated[datetime, Meta(tz=True)]


class GridSize(msgspec.Struct, forbid_unknown_fields=True):
    w: Cells
    h: Cells


class VersionLine(msgspec.Struct, rename="camel", kw_only=True, forbid_unknown_fields=True):
    """`bundleFile`, a path beside the NDJSON file, stands in place of `bundleUrl`.

    `cssFile` and `manifest` are there only where a version has them.
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
    release_notes: str | None = None
    display_name: Text | None = None
    description: str | None = None
    icon: str | None = None
    min_size: GridSize
    max_size: GridSize
    sdk_version: str
    config_version: Integer | None = None
    permissions: tuple[str, ...] = ()
    license: str | None = None
    css_file: Text | None = None
    manifest: str | None = None


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


class TakenBundle(NamedTuple):
    sha256_hash: str
    size_bytes: int


TakeBundle = Callable[[str, Kind], TakenBundle]
"""Takes the file with this name in and says what it is."""

FilesOf = Callable[[Widget, Version], dict[str, str]]
"""How the files of a version that are stored here are named in a line: keys and values."""


_decode = msgspec.json.Decoder(WidgetLine).decode
_encode = msgspec.json.Encoder().encode


def decode_line(line: bytes, take_bundle: TakeBundle) -> tuple[Widget, int]:
    """The widget in this line and its download count, or InvalidWidget with the field."""
    try:
        parsed = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise fault_of(line, error) from None
    if b"\\u0000" in line:
        refuse_nul(parsed)
    widget = Widget(
        scope=_named("scope", Scope.parse, parsed.scope),
        name=_named("name", WidgetName.parse, parsed.name),
        display_name=parsed.display_name,
        description=parsed.description,
        icon=parsed.icon,
        is_official=parsed.is_official,
        is_listed=parsed.listed,
        created_at=_whole_ms("createdAt", parsed.created_at),
    )
    seen: set[SortKey] = set()
    versions = []
    for i, version in enumerate(parsed.versions):
        at = f"versions[{i}]"
        made = _version(version, at, take_bundle)
        if made.version.sort_key in seen:
            raise InvalidWidget(f"{at}.version", f"{made.version} is given twice.")
        seen.add(made.version.sort_key)
        versions.append(made)
    return widget.with_versions(versions), parsed.download_count or 0


def encode_line(widget: Widget, download_count: int, files_of: FilesOf) -> bytes:
    """The line of this widget, all keys in it, in the order of the documentation."""
    line = {
        "scope": str(widget.scope),
        "name": str(widget.name),
        "displayName": widget.display_name,
        "description": widget.description,
        "icon": widget.icon,
        "isOfficial": widget.is_official,
        "listed": widget.is_listed,
        "downloadCount": download_count,
        "createdAt": iso(widget.created_at),
        "versions": [_version_line(widget, version, files_of) for version in widget.versions],
    }
    return _encode(line) + b"\n"


def _version_line(widget: Widget, version: Version, files_of: FilesOf) -> dict[str, Any]:
    files = files_of(widget, version)
    css_file = files.pop("cssFile", None)
    line = {
        "version": version.number,
        **({"bundleUrl": version.bundle_url} if version.bundle_url is not None else files),
        "bundleSize": version.bundle_size,
        "sha256Hash": version.sha256_hash,
        "publishedAt": iso(version.published_at),
        "yanked": version.is_yanked,
        "yankedReason": version.yanked_reason,
        "deprecationMessage": version.deprecation_message,
        "releaseNotes": version.release_notes,
        "displayName": version.display_name,
        "description": version.description,
        "icon": version.icon,
        "minSize": version.min_size,
        "maxSize": version.max_size,
        "sdkVersion": version.sdk_version,
        "configVersion": version.config_version,
        "permissions": version.permissions,
        "license": version.license,
    }
    if css_file is not None:
        line["cssFile"] = css_file
    if version.manifest is not None:
        line["manifest"] = version.manifest
    return line


def _version(line: VersionLine, at: str, take_bundle: TakeBundle) -> Version:
    bundle_url, bundle_file = line.bundle_url, line.bundle_file
    sha256_hash, bundle_size = line.sha256_hash, line.bundle_size
    if bundle_file is not None and bundle_url is not None:
        raise InvalidWidget(at, "give bundleUrl or bundleFile, not both.")
    if bundle_file is not None:
        try:
            taken = take_bundle(bundle_file, "js")
        except CatalogError as error:
            raise InvalidWidget(f"{at}.bundleFile", error.message) from None
        if sha256_hash not in (None, taken.sha256_hash):
            raise InvalidWidget(f"{at}.sha256Hash", f"{bundle_file} has {taken.sha256_hash}.")
        if bundle_size not in (None, taken.size_bytes):
            raise InvalidWidget(f"{at}.bundleSize", f"{bundle_file} has {taken.size_bytes} bytes.")
        sha256_hash, bundle_size = taken
    elif bundle_url is None:
        raise InvalidWidget(at, "has neither bundleUrl nor bundleFile.")
    if sha256_hash is None or bundle_size is None:
        missing = "sha256Hash" if sha256_hash is None else "bundleSize"
        raise InvalidWidget(f"{at}.{missing}", "is missing; it goes with bundleUrl.")
    style = None
    if line.css_file is not None:
        try:
            css = take_bundle(line.css_file, "css")
        except CatalogError as error:
            raise InvalidWidget(f"{at}.cssFile", error.message) from None
        style = Style(css.size_bytes, css.sha256_hash)
    return Version(
        version=_named(f"{at}.version", SemVer.parse, line.version),
        bundle_url=bundle_url,
        bundle_size=bundle_size,
        sha256_hash=sha256_hash,
        published_at=_whole_ms(f"{at}.publishedAt", line.published_at),
        is_yanked=line.yanked,
        yanked_reason=line.yanked_reason,
        deprecation_message=line.deprecation_message,
        release_notes=line.release_notes,
        display_name=line.display_name,
        description=line.description,
        icon=line.icon,
        min_size=Size(line.min_size.w, line.min_size.h),
        max_size=Size(line.max_size.w, line.max_size.h),
        sdk_version=line.sdk_version,
        config_version=line.config_version,
        permissions=line.permissions,
        license=line.license,
        style=style,
        manifest=line.manifest,
    )


def _named(field: str, parse: Callable[[str], T], text: str) -> T:
    """Parse, and say which field it was that could not be."""
    try:
        return parse(text)
    except (InvalidName, InvalidVersion) as error:
        raise InvalidWidget(field, str(error)) from None


def _whole_ms(field: str, instant: datetime) -> datetime:
    """Instants are whole milliseconds in UTC, so that what is shown is what is ordered by."""
    try:
        utc = instant if instant.tzinfo is UTC else instant.astimezone(UTC)
    except OverflowError:
        raise InvalidWidget(field, "in UTC, this is not in the years 1 to 9999.") from None
    beyond_ms = utc.microsecond % 1000
    return utc.replace(microsecond=utc.microsecond - beyond_ms) if beyond_ms else utc
