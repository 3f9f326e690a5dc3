"""The audit log: who did what, when and why. It only ever grows."""

from typing import Any, NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ..domain.accounts import Actor, Via
from .engine import Transaction
from .schema import audit

_MAX_ADDRESS = 64
# Ends what a scope was; whoever takes its name next has nothing to do with what was before.
RELEASE = "release scope"


class Entry(NamedTuple):
    at: int
    actor: str
    via: str
    action: str
    scope: str | None
    name: str | None
    version: str | None
    details: dict[str, Any]
    client_id: str | None = None
    client_name: str | None = None
    address: str | None = None


# The actor of entries about people who were not recognised. No account can have this name.
UNKNOWN = "-"


def record(
    tx: Transaction,
    actor: Actor,
    action: str,
    scope: str | None = None,
    name: str | None = None,
    version: str | None = None,
    **details: object,
) -> None:
    """Add an entry. It is committed with the change that it describes."""
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
            client_id=actor.client_id,
            client_name=actor.client_name,
            address=_short(actor.address),
        )
    )


def record_unknown(
    tx: Transaction, action: str, scope: str | None, address: str, **details: object
) -> None:
    """Add an entry about somebody who was not recognised."""
    tx.connection.execute(
        sa.insert(audit).values(
            at=tx.at_ms,
            actor=UNKNOWN,
            via=Via.SESSION.value,
            action=action,
            scope=scope,
            details=msgspec.json.encode(details).decode(),
            address=_short(address),
        )
    )


def find_release(connection: Connection, scope: str) -> int:
    """The number of the entry that last made this name free; 0 if none did."""
    query = sa.select(sa.func.max(audit.c.seq)).where(
        audit.c.scope == scope, audit.c.action == RELEASE
    )
    return connection.execute(query).scalar() or 0


def list_entries(
    connection: Connection,
    scope: str | None,
    name: str | None,
    page: int,
    limit: int,
    *,
    about: str | None = None,
    after: int = 0,
) -> tuple[list[Entry], int]:
    """A page of the log of a widget, of a scope or of all, newest first; and how many in all.

    `about`: only what this account did, and what happened to it or in its scope. `after`: not
    the entries up to this number.
    """
    query = sa.select(audit).where(audit.c.seq > after)
    if scope is not None:
        query = query.where(audit.c.scope == scope)
    if name is not None:
        query = query.where(audit.c.name == name)
    if about is not None:
        query = query.where((audit.c.actor == about) | (audit.c.scope == about))
    total = connection.execute(
        sa.select(sa.func.count()).select_from(query.subquery())
    ).scalar_one()
    rows = connection.execute(
        query.order_by(audit.c.seq.desc()).limit(limit).offset((page - 1) * limit)
    )
    return [_entry_from(row) for row in rows], total


def _short(address: str | None) -> str | None:
    """A proxy's header may claim to be an address and be anything."""
    return address[:_MAX_ADDRESS] if address is not None else None


def _entry_from(row: Any) -> Entry:
    return Entry(
        at=row.at,
        actor=row.actor,
        via=row.via,
        action=row.action,
        scope=row.scope,
        name=row.name,
        version=row.version,
        details=msgspec.json.decode(row.details),
        client_id=row.client_id,
        client_name=row.client_name,
        address=row.address,
    )
