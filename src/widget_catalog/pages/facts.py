"""Content of widget pages, derived from the API's types: texts and drawings."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from widget_contract.capabilities import Permission, in_words, name_of, permission_changes
from widget_contract.version_files import file_path, is_picture, is_thumbnail, thumbnail_of
from widget_contract.wire import Size, VersionEntry, WidgetDetail
from widget_contract.wire_running import PublishedFile

from ..core.languages.language import ENGLISH, N_, Language
from ..core.languages.permissions import PERMISSIONS

_WIDE_GRID_CELLS = 12

# Pictures are named by people, except those of `widget screenshot`.
_SCHEMES = {"light": N_("Light"), "dark": N_("Dark")}


class Screenshot(NamedTuple):
    """A picture of a version: its address, and its thumbnail on this site with its size."""

    url: str
    path: str
    width: int
    height: int
    name: str
    is_here: bool
    """Whether the CDN is this site."""


def shown_version(detail: WidgetDetail) -> VersionEntry | None:
    """The version that the page of a widget shows: the latest that is not yanked, or any."""
    usable = (it for it in detail.versions if not it.yanked)
    return next(usable, detail.versions[0] if detail.versions else None)


def screenshots_of(
    version: VersionEntry, files: Sequence[PublishedFile], public_url: str, language: Language
) -> list[Screenshot]:
    thumbnails = {it.path: it for it in files if is_thumbnail(it.path)}
    found = []
    for file in files:
        if is_picture(file.path):
            small = thumbnails.get(thumbnail_of(file.path), file)
            path = "/cdn" + file_path(version.scope, version.name, version.version, small.path)
            words = picture_in_words(file.path)
            words = language.gettext(_SCHEMES.get(words, words))
            is_here = file.url.startswith(f"{public_url}/cdn/")
            found.append(
                Screenshot(file.url, path, small.width or 1, small.height or 1, words, is_here)
            )
    return found


def picture_in_words(path: str) -> str:
    """Its name, for people who cannot see it."""
    return re.sub("[_-]+", " ", path.partition("/")[2].rpartition(".")[0]).strip()


class PermissionFact(NamedTuple):
    """`words` is None if only its name is known."""

    name: str
    words: str | None


def permission_fact(permission: Permission, language: Language) -> PermissionFact:
    if not isinstance(permission, str):
        words = in_words(permission, gettext=None if language is ENGLISH else language.gettext)
        return PermissionFact(name_of(permission), words[0].upper() + words[1:])
    kind, colon, detail = permission.partition(":")
    known = PERMISSIONS.get(kind)
    known = known and language.gettext(known)
    return PermissionFact(permission, f"{known}: {detail}" if known and colon else known)


class Footprint(NamedTuple):
    """A widget's smallest and largest size, clipped to a grid of `columns` by `rows` cells."""

    columns: int
    rows: int
    least: Size
    most: Size

    @property
    def lines(self) -> str:
        """Those between the cells, as an SVG path."""
        upright = [f"M{x} 0v{self.rows}" for x in range(self.columns + 1)]
        return "".join(upright + [f"M0 {y}h{self.columns}" for y in range(self.rows + 1)])


def grid(version: VersionEntry) -> Footprint:
    """With a free cell at each side if there is room."""
    cells = _WIDE_GRID_CELLS
    least, most = _cut(version.min_size, cells), _cut(version.max_size, cells)
    columns, rows = (min(max(it + 1, 4), cells) for it in (most.w, most.h))
    return Footprint(columns, rows, least, most)


def _cut(size: Size, cells: int) -> Size:
    return Size(min(size.w, cells), min(size.h, cells))


class VersionRow(NamedTuple):
    """A version in the list, and the permissions that its predecessor did not require."""

    entry: VersionEntry
    added: tuple[Permission, ...]
    removed: tuple[Permission, ...]
    before: str | None
    revoked_reason: str | None = None


Requested = Callable[[VersionEntry], tuple[Permission, ...]]
"""The permissions of a version, with its capabilities in full."""


def version_rows(
    versions: Sequence[VersionEntry],
    start: int,
    stop: int,
    requested: Requested,
    revoked: Mapping[str, str],
) -> list[VersionRow]:
    """Some of the versions, which are sorted newest first; `revoked` has the reasons of revoked
    ones."""
    rows = []
    asked = [requested(it) for it in versions[start : stop + 1]]
    for i, entry in enumerate(versions[start:stop]):
        before = versions[start + i + 1] if start + i + 1 < len(versions) else None
        added, removed = permission_changes(asked[i if before is None else i + 1], asked[i])
        former = None if before is None else before.version
        rows.append(VersionRow(entry, added, removed, former, revoked.get(entry.version)))
    return rows


class Compatibility(NamedTuple):
    """An SDK range, its newest installable version, and the number of versions with it."""

    sdk_range: str
    newest: VersionEntry | None
    versions: int


def compatibilities(versions: Sequence[VersionEntry]) -> list[Compatibility]:
    """Versions are sorted newest first."""
    found: dict[str, Compatibility] = {}
    for entry in versions:
        known = found.get(entry.sdk_version, Compatibility(entry.sdk_version, None, 0))
        newest = known.newest or (None if entry.yanked else entry)
        found[entry.sdk_version] = Compatibility(entry.sdk_version, newest, known.versions + 1)
    return list(found.values())


def find_version(detail: WidgetDetail, number: str) -> VersionEntry | None:
    return next((it for it in detail.versions if it.version == number), None)
