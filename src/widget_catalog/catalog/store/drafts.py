"""Drafts: new widgets as their rows, made in other processes or read from a staged import."""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import astuple

from widget_contract.version_files import kind_of

from ...core.clock import from_ms, to_ms
from ..model.widgets import Revocation, Widget
from .rows import (
    Row,
    StoredFile,
    VersionColumns,
    WidgetColumns,
    attached_rows,
    version_from,
    version_row,
    widget_from,
    widget_row,
    with_attached,
)


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
        return self._replace(versions=[astuple(it) for it in self.version_rows])

    @property
    def version_rows(self) -> list[VersionColumns]:
        return [VersionColumns(*it) for it in self.versions]

    @property
    def is_official(self) -> bool:
        return bool(WidgetColumns(*self.widget).is_official)

    @property
    def only_version(self) -> str | None:
        """The number of its version, if it has just one."""
        return self.numbers[0] if len(self.versions) == 1 else None

    @property
    def numbers(self) -> list[str]:
        return [it.version for it in self.version_rows]

    @property
    def hashes(self) -> Iterator[tuple[str, str, str]]:
        """Of each version: its identity, its number and the hash of its bundle."""
        return ((it.identity, it.version, it.sha256_hash) for it in self.version_rows)

    @property
    def files(self) -> Iterator[StoredFile]:
        """The files of its versions that are stored here."""
        for row in self.version_rows:
            if row.bundle_url is None:
                yield StoredFile(*self.key, row.version, "js", row.sha256_hash, row.bundle_size)
            if row.css_size is not None and row.css_sha256_hash is not None:
                yield StoredFile(*self.key, row.version, "css", row.css_sha256_hash, row.css_size)
        numbers = {it.identity: it.version for it in self.version_rows} if self.attached else {}
        for identity, path, _, size_bytes, sha256_hash, *_ in self.attached:
            kind = kind_of(path)
            yield StoredFile(*self.key, numbers[identity], kind, sha256_hash, size_bytes)

    @property
    def revoked(self) -> Iterator[tuple[str, str]]:
        """Of its revoked versions: number and reason."""
        why = {identity: reason for identity, reason, _ in self.revocations}
        return ((it.version, why[it.identity]) for it in self.version_rows if it.identity in why)

    def to_widget(self) -> Widget:
        versions = [version_from(*self.key, it) for it in self.version_rows]
        if self.revocations:
            why = {it[0]: Revocation(it[1], from_ms(it[2])) for it in self.revocations}
            versions = [it.with_revocation(why.get(it.identity)) for it in versions]
        if self.attached:
            versions = with_attached(versions, self.attached)
        return widget_from(WidgetColumns(*self.widget), versions)


def draft(widget: Widget, downloads: int, prepared: bytes) -> Draft:
    scope, name = str(widget.scope), str(widget.name)
    return Draft(
        scope,
        name,
        downloads,
        widget_row(widget),
        [version_row(scope, name, it) for it in widget.versions],
        prepared,
        tuple(
            [
                (version.identity, version.revocation.reason, to_ms(version.revocation.revoked_at))
                for version in widget.versions
                if version.revocation is not None
            ]
        ),
        tuple([row for it in widget.versions if it.attached for row in attached_rows(it)]),
    )
