"""Converts between domain values and table rows: the only place that knows both.

No database access: processes that only render widgets import nothing else.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import astuple

from widget_contract.manifest_details import DETAIL_FIELDS, DeclaredDetails, extra_details
from widget_contract.names import Scope, WidgetName
from widget_contract.semver import SemVer
from widget_contract.wire import Size

from ...core.clock import from_ms, to_ms
from ...core.db.damage import row_checksum
from ...core.errors import DataDamaged
from ...core.files.contract import FileKey, Kind
from ..model.widgets import AttachedFile, Revocation, Style, Version, Widget, newest_first

Row = tuple[Any, ...]
Prepare = Callable[[Widget], bytes]
"""Prepares the records of a widget for the listener of the store."""

_encode = msgspec.json.Encoder().encode
_decode_permissions = msgspec.json.Decoder(tuple[str, ...]).decode


class _StoredDetails(DeclaredDetails, frozen=True, kw_only=True):
    readme_words: str = ""


_decode_details = msgspec.json.Decoder(_StoredDetails).decode


class WidgetColumns(msgspec.Struct, gc=False):
    """The columns of the table after the widget's number, in their order. The checksum covers all
    others.
    """

    scope: str
    name: str
    display_name: str
    description: str | None
    icon: str | None
    is_official: bool | None
    is_listed: bool
    created_at: int
    checksum: int = 0


class VersionColumns(msgspec.Struct, gc=False):
    """The columns of the table after the widget's number, in their order. The checksum covers the
    widget's scope and name, and all others; without details, which older releases did not know,
    as if there was no such column.
    """

    identity: str
    version: str
    bundle_url: str | None
    bundle_size: int
    sha256_hash: str
    published_at: int
    is_yanked: bool
    yanked_reason: str | None
    deprecation_message: str | None
    release_notes: str | None
    display_name: str | None
    description: str | None
    icon: str | None
    min_w: int
    min_h: int
    max_w: int
    max_h: int
    sdk_version: str
    config_version: int | None
    permissions: str
    license: str | None
    css_size: int | None
    css_sha256_hash: str | None
    manifest: str | None
    checksum: int = 0
    details: str | None = None

    def checksum_in(self, scope: str, name: str) -> int:
        covered = (scope, name, *astuple(self)[:-2])
        return row_checksum(covered if self.details is None else (*covered, self.details))


class StoredWidget(NamedTuple):
    """A widget and its number in the store."""

    id: int
    widget: Widget


class StoredFile(NamedTuple):
    """A file that a version refers to and that is stored here."""

    scope: str
    name: str
    version: str
    kind: Kind
    sha256_hash: str
    size_bytes: int

    @property
    def key(self) -> FileKey:
        return self.sha256_hash, self.kind


def attached_rows(version: Version) -> list[Row]:
    """In the order of the table's columns, without the widget's number and the checksum."""
    return [
        (
            version.identity,
            file.path,
            place,
            file.size_bytes,
            file.sha256_hash,
            file.width,
            file.height,
        )
        for place, file in enumerate(version.attached)
    ]


def with_attached(versions: Sequence[Version], rows: Sequence[Row]) -> list[Version]:
    """The versions with their files, from rows like those of `attached_rows`."""
    of: dict[str, list[AttachedFile]] = {}
    for identity, path, _, *rest in sorted(rows, key=lambda it: (it[0], it[2])):
        of.setdefault(identity, []).append(AttachedFile(path, *rest))
    return [
        msgspec.structs.replace(version, attached=tuple(of[version.identity]))
        if version.identity in of
        else version
        for version in versions
    ]


def widget_row(widget: Widget) -> Row:
    columns = WidgetColumns(
        # Plain strings, because the driver is slow to adapt a subclass.
        scope=str(widget.scope),
        name=str(widget.name),
        display_name=widget.display_name,
        description=widget.description,
        icon=widget.icon,
        is_official=widget.is_official,
        is_listed=widget.is_listed,
        created_at=to_ms(widget.created_at),
    )
    columns.checksum = row_checksum(astuple(columns)[:-1])
    return astuple(columns)


def version_row(scope: str, name: str, version: Version) -> Row:
    """The row of a version of this widget."""
    min_size, max_size, style = version.min_size, version.max_size, version.style
    details = extra_details(version, version.manifest)
    if version.readme_words:
        details["readmeWords"] = version.readme_words
    columns = VersionColumns(
        identity=version.identity,
        version=version.number,
        bundle_url=version.bundle_url,
        bundle_size=version.bundle_size,
        sha256_hash=version.sha256_hash,
        published_at=to_ms(version.published_at),
        is_yanked=version.is_yanked,
        yanked_reason=version.yanked_reason,
        deprecation_message=version.deprecation_message,
        release_notes=version.release_notes,
        display_name=version.display_name,
        description=version.description,
        icon=version.icon,
        min_w=min_size.w,
        min_h=min_size.h,
        max_w=max_size.w,
        max_h=max_size.h,
        sdk_version=version.sdk_version,
        config_version=version.config_version,
        permissions=_encode(version.permissions).decode(),
        license=version.license,
        css_size=style.size_bytes if style else None,
        css_sha256_hash=style.sha256_hash if style else None,
        manifest=version.manifest,
        details=_encode(details).decode() if details else None,
    )
    columns.checksum = columns.checksum_in(scope, name)
    return astuple(columns)


def check_widget(row: Sequence[Any]) -> None:
    """Raises DataDamaged if the checksum does not match."""
    number, *values, written = row
    if row_checksum(values) != written:
        raise _damaged(f"the widget {values[0]}/{values[1]} (number {number})")


def widget_from(row: WidgetColumns, versions: Sequence[Version]) -> Widget:
    """From a verified row."""
    return Widget(
        scope=Scope(row.scope),
        name=WidgetName(row.name),
        display_name=row.display_name,
        description=row.description,
        icon=row.icon,
        is_official=row.is_official,
        is_listed=row.is_listed,
        created_at=from_ms(row.created_at),
        versions=newest_first(list(versions)),
    )


def version_from(scope: str, name: str, row: VersionColumns) -> Version:
    """A version of this widget. Raises DataDamaged if the checksum does not match."""
    if row.checksum_in(scope, name) != row.checksum:
        raise _damaged(f"version {row.identity} of {scope}/{name}")
    return Version(
        version=SemVer.parse(row.version),
        bundle_url=row.bundle_url,
        bundle_size=row.bundle_size,
        sha256_hash=row.sha256_hash,
        published_at=from_ms(row.published_at),
        is_yanked=row.is_yanked,
        yanked_reason=row.yanked_reason,
        deprecation_message=row.deprecation_message,
        release_notes=row.release_notes,
        display_name=row.display_name,
        description=row.description,
        icon=row.icon,
        min_size=Size(row.min_w, row.min_h),
        max_size=Size(row.max_w, row.max_h),
        sdk_version=row.sdk_version,
        config_version=row.config_version,
        permissions=_decode_permissions(row.permissions),
        license=row.license,
        style=_style_from(row.css_size, row.css_sha256_hash),
        manifest=row.manifest,
        **({} if row.details is None else _details_from(row.details)),
    )


def _style_from(size_bytes: int | None, sha256_hash: str | None) -> Style | None:
    return None if size_bytes is None or sha256_hash is None else Style(size_bytes, sha256_hash)


def _details_from(text: str) -> dict[str, Any]:
    decoded = _decode_details(text)
    return {it: getattr(decoded, it) for it in (*DETAIL_FIELDS, "readme_words")}


def _damaged(what: str) -> DataDamaged:
    return DataDamaged(
        f"The database is damaged: what it holds of {what} is not what was written. Restore it "
        "from a backup."
    )


class DamagedWidget(NamedTuple):
    """What is known about a widget with damaged rows."""

    scope: str
    name: str
    sentence: str


class WidgetRows(NamedTuple):
    """The rows of a widget, as plain values."""

    widget: Row
    versions: list[Row]
    revocations: list[Row]
    attached: list[Row]


class Slice(NamedTuple):
    """Some widgets by number, and errors for those that are damaged."""

    intact: list[StoredWidget]
    damaged: dict[int, DamagedWidget]


def slice_of(rows: Sequence[WidgetRows]) -> Slice:
    """Widgets from their rows, each of them verified."""
    found = Slice([], {})
    for some in rows:
        number, scope, name = some.widget[:3]
        try:
            found.intact.append(stored_widget(some))
        except DataDamaged as error:
            found.damaged[number] = DamagedWidget(scope, name, error.message)
    return found


def stored_widget(rows: WidgetRows) -> StoredWidget:
    """Raises DataDamaged if the checksum of any row does not match."""
    check_widget(rows.widget)
    number, scope, name = rows.widget[:3]
    found = [version_from(scope, name, VersionColumns(*it[1:])) for it in rows.versions]
    if rows.revocations:
        why = {it[1]: _revocation_from(it) for it in rows.revocations}
        found = [it.with_revocation(why.get(it.identity)) for it in found]
    if rows.attached:
        found = with_attached(found, [_checked_file(it) for it in rows.attached])
    return StoredWidget(number, widget_from(WidgetColumns(*rows.widget[1:]), found))


def _checked_file(row: Row) -> Row:
    """Without the widget's number and the checksum. Raises DataDamaged if it does not match."""
    widget_id, *values, written = row
    if row_checksum(row[:-1]) != written:
        raise DataDamaged(
            f"The database is damaged: the file {values[1]} of version {values[0]} of widget "
            f"{widget_id} is not what was written. Restore it from a backup."
        )
    return tuple(values)


def _revocation_from(row: Row) -> Revocation:
    """Raises DataDamaged if the checksum does not match."""
    widget_id, identity, reason, revoked_at, written = row
    if row_checksum(row[:-1]) != written:
        raise DataDamaged(
            f"The database is damaged: the revocation of version {identity} of widget "
            f"{widget_id} is not what was written. Restore it from a backup."
        )
    return Revocation(reason, from_ms(revoked_at))
