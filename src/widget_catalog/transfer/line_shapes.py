"""The fields of a line of NDJSON that describes a widget, and what can be read of a line that has
errors.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from widget_contract.errors import InvalidName
from widget_contract.manifests import Declared
from widget_contract.names import Scope
from widget_contract.version_files import MAX_PICTURE_SIDE, is_attached, kind_of, lacks_thumbnail
from widget_contract.wire import Size

from ..catalog.model.text_limits import MAX_LINE, MAX_NAME, MAX_TEXT
from ..core.files.contract import Kind
from .line_errors import MAX_CELLS, SAFE_INTEGER

# Texts by their size. Fields without a limit here are checked by a parser, or are paths.
Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME)]
Line = Annotated[str, Meta(max_length=MAX_LINE)]
Text = Annotated[str, Meta(max_length=MAX_TEXT)]
Path = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=0, le=SAFE_INTEGER)]
Integer = Annotated[int, Meta(ge=-SAFE_INTEGER, le=SAFE_INTEGER)]
Pixels = Annotated[int, Meta(ge=1, le=MAX_PICTURE_SIDE)]
Cells = Annotated[int, Meta(ge=1, le=MAX_CELLS)]
Url = Annotated[str, Meta(pattern=r"^https?://[^\s]+\Z", max_length=MAX_LINE)]
Sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
Instant = Annotated[datetime, Meta(tz=True)]


class GridSize(Size, frozen=True, forbid_unknown_fields=True):
    w: Cells
    h: Cells


class RevocationLine(msgspec.Struct, rename="camel", frozen=True, forbid_unknown_fields=True):
    """Reason and time of a revocation, and whether the author has yanked the version as well."""

    reason: Annotated[Line, Meta(min_length=1)]
    at: Instant
    yanked: bool = False
    yanked_reason: Line | None = None


class FileLine(msgspec.Struct, rename="camel", frozen=True, forbid_unknown_fields=True):
    """A README, a picture or its thumbnail. The size of a picture is needed only if the file itself
    is not read.
    """

    path: str
    file: Path
    width: Pixels | None = None
    height: Pixels | None = None


class VersionLine(Declared, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`bundleFile`, a path relative to the NDJSON file, replaces `bundleUrl`.

    `cssFile`, `files`, `manifest`, `revoked` and details are present only if a version has them.
    A revoked version counts as yanked, for readers that do not know revocations.
    """

    version: str
    bundle_url: Url | None = None
    bundle_file: Path | None = None
    bundle_size: Count | None = None
    sha256_hash: Sha256 | None = None
    published_at: Instant
    yanked: bool = False
    yanked_reason: Line | None = None
    deprecation_message: Line | None = None
    release_notes: Text | None = None
    display_name: Name | None = None
    description: Line | None = None
    icon: Line | None = None
    min_size: GridSize
    max_size: GridSize
    sdk_version: Line
    config_version: Integer | None = None
    permissions: tuple[Annotated[str, Meta(max_length=MAX_NAME)], ...] = ()
    license: Line | None = None
    css_file: Path | None = None
    files: tuple[FileLine, ...] = ()
    manifest: Text | None = None
    revoked: RevocationLine | None = None


class WidgetLine(msgspec.Struct, rename="camel", kw_only=True, forbid_unknown_fields=True):
    scope: str
    name: str
    display_name: Name
    description: Line | None = None
    icon: Line | None = None
    is_official: bool | None = None
    listed: bool = True
    download_count: Count | None = None
    created_at: Instant
    versions: tuple[VersionLine, ...] = ()


class _ScopeLine(msgspec.Struct):
    scope: str


class _FileNames(msgspec.Struct):
    path: str
    file: str


class _VersionFiles(msgspec.Struct, rename="camel"):
    bundle_file: str | None = None
    css_file: str | None = None
    files: tuple[_FileNames, ...] = ()


class _FilesLine(msgspec.Struct):
    versions: tuple[_VersionFiles, ...] = ()


_decode_scope = msgspec.json.Decoder(_ScopeLine).decode
_decode_files = msgspec.json.Decoder(_FilesLine).decode


def scope_in(line: bytes) -> Scope | None:
    """The scope of a line, whatever other errors it has."""
    try:
        return Scope.parse(_decode_scope(line).scope)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, InvalidName):
        return None


def files_in(line: bytes) -> Iterator[tuple[str, Kind, bool]]:
    """The files that a line names, and whether a thumbnail is to be made of each; none if it cannot
    be decoded.
    """
    try:
        versions = _decode_files(line).versions
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return
    for version in versions:
        if version.bundle_file is not None:
            yield version.bundle_file, "js", False
        if version.css_file is not None:
            yield version.css_file, "css", False
        named = {file.path for file in version.files}
        for file in version.files:
            if is_attached(file.path):
                yield file.file, kind_of(file.path), lacks_thumbnail(file.path, named)
