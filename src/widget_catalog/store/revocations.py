"""Revocations: versions that must not run, and their files that no other version needs."""

from collections.abc import Iterator, Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ..domain.clock import to_ms
from ..domain.widgets import Version
from .bulk import insert_rows
from .checksums import row_checksum
from .engine import Transaction
from .rows import StoredFile
from .schema import revocations, versions, widgets

_SAME = (versions.c.widget_id == revocations.c.widget_id) & (
    versions.c.identity == revocations.c.identity
)


def save_revocation(tx: Transaction, widget_id: int, version: Version) -> None:
    """Store whether a version is revoked."""
    is_it = (revocations.c.widget_id == widget_id) & (revocations.c.identity == version.identity)
    tx.connection.execute(sa.delete(revocations).where(is_it))
    if version.revocation is not None:
        reason, revoked_at = version.revocation.reason, to_ms(version.revocation.revoked_at)
        add_revocations(tx, [(widget_id, version.identity, reason, revoked_at)])


def add_revocations(tx: Transaction, rows: Sequence[tuple[int, str, str, int]]) -> None:
    """Widget number, version identity, reason and time of each."""
    insert_rows(tx.connection, revocations, [(*row, row_checksum(row)) for row in rows])


def is_revoked(connection: Connection, sha256_hash: str) -> bool:
    """Whether a bundle with these bytes was revoked."""
    query = sa.select(revocations.c.widget_id).join_from(revocations, versions, _SAME)
    return (
        connection.execute(query.where(versions.c.sha256_hash == sha256_hash)).first() is not None
    )


def list_sharing(connection: Connection, sha256_hash: str) -> list[str]:
    """Versions that are stored here with these bytes and not revoked, as `scope/name version`."""
    query = (
        sa.select(widgets.c.scope, widgets.c.name, versions.c.version)
        .join_from(versions, widgets)
        .outerjoin(revocations, _SAME)
        .where(versions.c.sha256_hash == sha256_hash, versions.c.bundle_url.is_(None))
        .where(revocations.c.widget_id.is_(None))
        .order_by(widgets.c.scope, widgets.c.name, versions.c.version)
    )
    return [f"{scope}/{name} {version}" for scope, name, version in connection.execute(query)]


def list_revoked_files(connection: Connection) -> Iterator[StoredFile]:
    """The files of revoked versions that are stored here, withdrawn or not."""
    query = (
        sa.select(widgets.c.scope, widgets.c.name, versions)
        .join_from(revocations, versions, _SAME)
        .join(widgets, widgets.c.id == versions.c.widget_id)
    )
    for row in connection.execute(query).all():
        whose = (row.scope, row.name, row.version)
        if row.bundle_url is None:
            yield StoredFile(*whose, "js", row.sha256_hash, row.bundle_size)
        if row.css_size is not None:
            yield StoredFile(*whose, "css", row.css_sha256_hash, row.css_size)


def is_needed(connection: Connection, file: StoredFile) -> bool:
    """Whether a version that is not revoked has this file, too."""
    if file.kind == "js":
        return bool(list_sharing(connection, file.sha256_hash))
    query = (
        sa.select(versions.c.widget_id)
        .join_from(versions, revocations, _SAME, isouter=True)
        .where(versions.c.css_sha256_hash == file.sha256_hash, revocations.c.widget_id.is_(None))
    )
    return connection.execute(query.limit(1)).first() is not None
