"""The audit log: who did what, when and why. It only ever grows."""

from typing import Any, NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ..domain.accounts import Actor
from .engine import Transaction
from .schema import audit


class Entry(NamedTuple):
    at: int
    actor: str
    via: str
    action: str
    scope: str | None
    name: str | None
    version: str | None
    details: dict[str, Any]


def record(
    tx: Transaction,
    actor: Actor,
    action: str,
    scope: str | None = None,
    name: str | None = None,
    version: str | None = None,
    **details: object,
) -> None:
    """Add an entry; it is there when what it tells of is committed, and not otherwise."""
    tx.connection.execute(
        sa.insert(audit).values(
            at=tx.at_ms,
            actor=actor.name,
            via=actor.via.value,
            action=action,
            scope=scope,
            name=name,
            version=version,
            details=msgspec.json.encode(details).decode(),
        )
    )


def list_entries(
    connection: Connection, scope: str | None, name: str | None, page: int, limit: int
) -> tuple[list[Entry], int]:
    """A page of the log of a widget, of a scope or of all, newest first; and how many in all."""
    query = sa.select(audit)
    if scope is not None:
        query = query.where(audit.c.scope == scope)
    if name is not None:
        query = query.where(audit.c.name == name)
    total = connection.execute(
        sa.select(sa.func.count()).select_from(query.subquery())
    ).scalar_one()
    rows = connection.execute(
        query.order_by(audit.c.seq.desc()).limit(limit).offset((page - 1) * limit)
    )
    return [_entry_from(row) for row in rows], total


def _entry_from(row: Any) -> Entry:
    details = msgspec.json.decode(row.details)
    return Entry(row.at, row.actor, row.via, row.action, row.scope, row.name, row.version, details)
