"""Revocations: versions that must not run, and bytes that nobody may publish."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy import BigInteger, Column, Table, Text
from sqlalchemy.engine import Connection

from ...core.clock import to_ms
from ...core.db.bulk import insert_rows
from ...core.db.damage import row_checksum
from ...core.db.engine import Transaction
from ...core.db.schema import metadata
from ..model.widgets import Version, Widget
from .tables import revocations, versions, widgets

# Bundles that nobody may publish, by the operator's choice.
revoked_bytes = Table(
    "revoked_bytes",
    metadata,
    Column("sha256_hash", Text, primary_key=True),
    Column("reason", Text, nullable=False),
    Column("revoked_at", BigInteger, nullable=False),
)

_SAME = (versions.c.widget_id == revocations.c.widget_id) & (
    versions.c.identity == revocations.c.identity
)
# Of a version in a query.
IS_REVOKED = sa.exists().where(_SAME).correlate(versions)


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


def revoke_bytes(tx: Transaction, sha256_hash: str, reason: str) -> None:
    """Nobody may publish these bytes from now on."""
    is_it = revoked_bytes.c.sha256_hash == sha256_hash
    tx.connection.execute(sa.delete(revoked_bytes).where(is_it))
    insert_rows(tx.connection, revoked_bytes, [(sha256_hash, reason, tx.at_ms)])


def release_bytes(tx: Transaction, sha256_hash: str) -> None:
    """Undo that if no version with these bytes is revoked any more."""
    revoked = sa.select(revocations.c.widget_id).join_from(revocations, versions, _SAME)
    is_left = revoked.where(versions.c.sha256_hash == sha256_hash).limit(1)
    if tx.connection.execute(is_left).first() is None:
        is_it = revoked_bytes.c.sha256_hash == sha256_hash
        tx.connection.execute(sa.delete(revoked_bytes).where(is_it))


def are_bytes_revoked(connection: Connection, sha256_hash: str) -> bool:
    """Whether nobody may publish them."""
    query = sa.select(revoked_bytes.c.reason).where(revoked_bytes.c.sha256_hash == sha256_hash)
    return connection.execute(query).first() is not None


def list_revoked_bytes(connection: Connection) -> dict[str, str]:
    """The hashes of all bytes that nobody may publish, with the reasons."""
    query = sa.select(revoked_bytes.c.sha256_hash, revoked_bytes.c.reason)
    return {row.sha256_hash: row.reason for row in connection.execute(query)}


def find_refusal(connection: Connection, scope: str, name: str, sha256_hash: str) -> str | None:
    """Why these bytes cannot be published as this widget: they were revoked everywhere, or as a
    version of this widget. The same bytes elsewhere prove nothing: anybody can publish a copy.
    """
    everywhere = sa.select(revoked_bytes.c.reason).where(revoked_bytes.c.sha256_hash == sha256_hash)
    here = (
        sa.select(revocations.c.reason)
        .join_from(revocations, versions, _SAME)
        .join(widgets, widgets.c.id == versions.c.widget_id)
        .where(versions.c.sha256_hash == sha256_hash)
        .where(widgets.c.scope == scope, widgets.c.name == name)
    )
    for query in (everywhere, here):
        reason: str | None = connection.execute(query.limit(1)).scalar()
        if reason is not None:
            return reason
    return None


def list_sharing(connection: Connection, sha256_hash: str) -> list[str]:
    """Versions with this bundle that are not revoked, as `scope/name version`."""
    query = (
        sa.select(widgets.c.scope, widgets.c.name, versions.c.version)
        .join_from(versions, widgets)
        .outerjoin(revocations, _SAME)
        .where(versions.c.sha256_hash == sha256_hash, revocations.c.widget_id.is_(None))
        .order_by(widgets.c.scope, widgets.c.name, versions.c.version)
    )
    return [f"{scope}/{name} {version}" for scope, name, version in connection.execute(query)]


def list_revoked_in(
    connection: Connection, scopes: Sequence[str], limit: int
) -> list[tuple[str, str, str]]:
    """The revoked versions of these scopes, newest revocation first: widget, number and reason."""
    query = (
        sa.select(widgets.c.scope, widgets.c.name, versions.c.version, revocations.c.reason)
        .join_from(revocations, versions, _SAME)
        .join(widgets, widgets.c.id == versions.c.widget_id)
        .where(widgets.c.scope.in_(scopes))
        .order_by(revocations.c.revoked_at.desc(), widgets.c.name, versions.c.version)
        .limit(limit)
    )
    rows = connection.execute(query)
    return [(f"{scope}/{name}", number, reason) for scope, name, number, reason in rows]


def list_same_bundle(connection: Connection, widget: Widget, version: Version) -> list[str]:
    """The other versions with its bundle that are not revoked, as `scope/name version`."""
    this = f"{widget.scope}/{widget.name} {version.number}"
    return [it for it in list_sharing(connection, version.sha256_hash) if it != this]
