"""Converts between domain values and table rows: the only place that knows both.

No database access: processes that only render widgets import nothing else.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from widget_contract.manifest_details import DETAIL_FIELDS, DeclaredDetails, extra_details
from widget_contract.names import Scope, WidgetName
from widget_contract.semver import SemVer
from widget_contract.version_files import kind_of
from widget_contract.wire import Size

from ...core.clock import from_ms, to_ms
from ...core.db.damage import row_checksum
from ...core.errors import DataDamaged
from ...core.files.contract import FileKey, Kind
from ..model.widgets import AttachedFile, Revocation, Style, Version, Widget, newest_first

Row = tuple[Any, ...]
Prepare = Callable[[Widget], bytes]
"""Prepares the records of a widget for the listener of the store."""

# Their positions in the rows of a widget and a version.
_IS_OFFICIAL = 5
_IDENTITY, _NUMBER, _BUNDLE_URL, _BUNDLE_SIZE, _SHA256_HASH = range(5)
_CSS_SIZE, _CSS_SHA256_HASH = 21, 22
_DETAILS = 25

_encode = msgspec.json.Encoder().encode
_decode_permissions = msgspec.json.Decoder(tuple[str, ...]).decode


class _StoredDetails(DeclaredDetails, frozen=True, kw_only=True):
    readme_words: str = ""


_decode_details = msgspec.json.Decoder(_StoredDetails).decode


class StoredWidget(NamedTuple):
    """A widget and its number in the store."""

    id: int
    widget: Widget


class Draft(NamedTuple):
    """A new widget as its rows, without the widget's number.

    Only plain values, so that it can be created in another process. `prepared` are its prepared
    records for the store's listener; an unknown format is prepared again.
    """

    scope: str
    name: str
    downloads: int
    widget: Row
    versions: list[Row]
    prepared: bytes | Row
    # Identity, reason and time of its revoked versions.
    revocations: tuple[tuple[str, str, int], ...] = ()
    # Identity, path, position and further columns of the files that are attached to its versions.
    attached: tuple[Row, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        return (self.scope, self.name)

    def with_every_column(self) -> "Draft":
        """Drafts of older releases have no details."""
        rows = [it if len(it) > _DETAILS else (*it, None) for it in self.versions]
        return self._replace(versions=rows)

    @property
    def is_official(self) -> bool:
        return bool(self.widget[_IS_OFFICIAL])

    @property
    def only_version(self) -> str | None:
        """The number of its version, if it has just one."""
        return self.versions[0][_NUMBER] if len(self.versions) == 1 else None

    @property
    def numbers(self) -> list[str]:
        return [it[_NUMBER] for it in self.versions]

    @property
    def hashes(self) -> Iterator[tuple[str, str, str]]:
        """Of each version: its identity, its number and the hash of its bundle."""
        return ((it[_IDENTITY], it[_NUMBER], it[_SHA256_HASH]) for it in self.versions)

    @property
    def files(self) -> Iterator["StoredFile"]:
        """The files of its versions that are stored here."""
        for it in self.versions:
            if it[_BUNDLE_URL] is None:
                yield StoredFile(*self.key, it[_NUMBER], "js", it[_SHA256_HASH], it[_BUNDLE_SIZE])
            if it[_CSS_SIZE] is not None:
                yield StoredFile(*self.key, it[_NUMBER], "css", it[_CSS_SHA256_HASH], it[_CSS_SIZE])
        numbers = {it[_IDENTITY]: it[_NUMBER] for it in self.versions} if self.attached else {}
        for identity, path, _, size_bytes, sha256_hash, *_ in self.attached:
            kind = kind_of(path)
            yield StoredFile(*self.key, numbers[identity], kind, sha256_hash, size_bytes)

    @property
    def revoked(self) -> Iterator[tuple[str, str]]:
        """Of its revoked versions: number and reason."""
        why = {identity: reason for identity, reason, _ in self.revocations}
        return ((it[_NUMBER], why[it[_IDENTITY]]) for it in self.versions if it[_IDENTITY] in why)

    def to_widget(self) -> Widget:
        versions = [version_from(*self.key, (None, *it)) for it in self.versions]
        if self.revocations:
            why = {it[0]: Revocation(it[1], from_ms(it[2])) for it in self.revocations}
            versions = [it.with_revocation(why.get(it.identity)) for it in versions]
        if self.attached:
            versions = with_attached(versions, self.attached)
        return widget_from((None, *self.widget), versions)


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


def draft(widget: Widget, downloads: int, prepared: bytes) -> Draft:
    scope, name = str(widget.scope), str(widget.name)
    return Draft(
        scope,
        name,
        downloads,
        widget_row(widget),
        [version_row(scope, name, version) for version in widget.versions],
        prepared,
        tuple(
            [
                (it.identity, it.revocation.reason, to_ms(it.revocation.revoked_at))
                for it in widget.versions
                if it.revocation is not None
            ]
        ),
        tuple([row for it in widget.versions if it.attached for row in attached_rows(it)]),
    )


def attached_rows(version: Version) -> list[Row]:
    """In the order of the table's columns, without the widget's number and the checksum."""
    return [
        (version.identity, it.path, place, it.size_bytes, it.sha256_hash, it.width, it.height)
        for place, it in enumerate(version.attached)
    ]


def with_attached(versions: Sequence[Version], rows: Sequence[Row]) -> list[Version]:
    """The versions with their files, from rows like those of `attached_rows`."""
    of: dict[str, list[AttachedFile]] = {}
    for identity, path, _, *rest in sorted(rows, key=lambda it: (it[0], it[2])):
        of.setdefault(identity, []).append(AttachedFile(path, *rest))
    return [
        msgspec.structs.replace(it, attached=tuple(of[it.identity])) if it.identity in of else it
        for it in versions
    ]


def widget_row(widget: Widget) -> Row:
    """In the order of the table's columns after the first, the widget's number."""
    row = (
        # Plain strings, because the driver is slow to adapt a subclass.
        str(widget.scope),
        str(widget.name),
        widget.display_name,
        widget.description,
        widget.icon,
        widget.is_official,
        widget.is_listed,
        to_ms(widget.created_at),
    )
    return (*row, row_checksum(row))


def version_row(scope: str, name: str, version: Version) -> Row:
    """Of a version of this widget: in the order of the table's columns after the first, the
    widget's number."""
    min_size, max_size, style = version.min_size, version.max_size, version.style
    row = (
        version.identity,
        version.number,
        version.bundle_url,
        version.bundle_size,
        version.sha256_hash,
        to_ms(version.published_at),
        version.is_yanked,
        version.yanked_reason,
        version.deprecation_message,
        version.release_notes,
        version.display_name,
        version.description,
        version.icon,
        min_size.w,
        min_size.h,
        max_size.w,
        max_size.h,
        version.sdk_version,
        version.config_version,
        _encode(version.permissions).decode(),
        version.license,
        style and style.size_bytes,
        style and style.sha256_hash,
        version.manifest,
    )
    details = extra_details(version, version.manifest)
    if version.readme_words:
        details["readmeWords"] = version.readme_words
    encoded = _encode(details).decode() if details else None
    return (*row, _version_checksum(scope, name, row, encoded), encoded)


def _version_checksum(scope: str, name: str, row: Sequence[Any], details: str | None) -> int:
    """Without details, it is that of older releases, which did not know any."""
    return row_checksum((scope, name, *row) if details is None else (scope, name, *row, details))


def check_widget(row: Sequence[Any]) -> None:
    """Raises DataDamaged if the checksum does not match."""
    number, *values, written = row
    if row_checksum(values) != written:
        raise _damaged(f"the widget {values[0]}/{values[1]} (number {number})")


def widget_from(row: Sequence[Any], versions: Sequence[Version]) -> Widget:
    """From a verified row."""
    _, scope, name, display_name, description, icon, is_official, is_listed, created_at, _ = row
    return Widget(
        scope=Scope(scope),
        name=WidgetName(name),
        display_name=display_name,
        description=description,
        icon=icon,
        is_official=is_official,
        is_listed=is_listed,
        created_at=from_ms(created_at),
        versions=newest_first(list(versions)),
    )


def version_from(scope: str, name: str, row: Sequence[Any]) -> Version:
    """A version of this widget. Raises DataDamaged if the checksum does not match."""
    # By position and not by name, because an export reads millions of these.
    _, identity, number, bundle_url, bundle_size, sha256_hash, published_at = row[:7]
    is_yanked, yanked_reason, deprecation_message, release_notes = row[7:11]
    display_name, description, icon, min_w, min_h, max_w, max_h = row[11:18]
    sdk_version, config_version, permissions, license_ = row[18:22]
    css_size, css_sha256_hash, manifest, written, details = row[22:]
    if _version_checksum(scope, name, row[1:-2], details) != written:
        raise _damaged(f"version {identity} of {scope}/{name}")
    return Version(
        version=SemVer.parse(number),
        bundle_url=bundle_url,
        bundle_size=bundle_size,
        sha256_hash=sha256_hash,
        published_at=from_ms(published_at),
        is_yanked=is_yanked,
        yanked_reason=yanked_reason,
        deprecation_message=deprecation_message,
        release_notes=release_notes,
        display_name=display_name,
        description=description,
        icon=icon,
        min_size=Size(min_w, min_h),
        max_size=Size(max_w, max_h),
        sdk_version=sdk_version,
        config_version=config_version,
        permissions=_decode_permissions(permissions),
        license=license_,
        style=None if css_size is None else Style(css_size, css_sha256_hash),
        manifest=manifest,
        **({} if details is None else _details_from(details)),
    )


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
    for it in rows:
        number, scope, name = it.widget[:3]
        try:
            found.intact.append(stored_widget(it))
        except DataDamaged as error:
            found.damaged[number] = DamagedWidget(scope, name, error.message)
    return found


def stored_widget(rows: WidgetRows) -> StoredWidget:
    """Raises DataDamaged if the checksum of any row does not match."""
    check_widget(rows.widget)
    number, scope, name = rows.widget[:3]
    found = [version_from(scope, name, it) for it in rows.versions]
    if rows.revocations:
        why = {it[1]: _revocation_from(it) for it in rows.revocations}
        found = [it.with_revocation(why.get(it.identity)) for it in found]
    if rows.attached:
        found = with_attached(found, [_checked_file(it) for it in rows.attached])
    return StoredWidget(number, widget_from(rows.widget, found))


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
