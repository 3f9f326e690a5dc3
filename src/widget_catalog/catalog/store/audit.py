"""The audit log: who did what, when and why. Entries are immutable; old ones may be removed.

Entries are written by `events.append`. IP addresses are personal: they are shown only to the person
who acted and to operators.
"""

from collections.abc import Collection, Iterable
from itertools import takewhile
from typing import Any, NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ...core.actors import Actor, Anonymous
from ...core.clock import from_ms, iso
from ...core.db.engine import Snapshot, Transaction
from ..model.events import Event, ScopeReleased, list_actions
from .tables import audit

_MAX_ADDRESS = 64
_REMOVED_AT_ONCE = 1_000
_READ_AT_ONCE = 500

# No recovery codes left, or no publishers: that is what the entry is about.
_TELLING_WHEN_EMPTY = ("left", "publishers")


class AuditEntry(NamedTuple):
    at: int
    actor: str
    via: str
    action: str
    """What has happened, in the words that the log is shown in."""
    scope: str | None
    name: str | None
    version: str | None
    details: dict[str, Any]
    client_id: str | None = None
    client_name: str | None = None
    address: str | None = None

    @property
    def telling_details(self) -> dict[str, Any]:
        """For people: without values that are missing, false or zero."""
        return {
            key: value for key, value in self.details.items() if value or key in _TELLING_WHEN_EMPTY
        }


class AuditFilter(NamedTuple):
    """All given conditions must hold. `until` is exclusive."""

    actor: str | None = None
    action: str | None = None
    scope: str | None = None
    name: str | None = None
    since: int | None = None
    until: int | None = None
    about: str | None = None
    """What this account did, and what happened to it or in its scope."""
    after: int = 0
    """Only entries after this number."""


def add_line(tx: Transaction, by: Actor | Anonymous, event: Event) -> None:
    """For `events.append`, which every event goes through."""
    # A proxy's header may contain anything in place of an address.
    address = None if by.address is None else by.address[:_MAX_ADDRESS]
    tx.connection.execute(
        sa.insert(audit).values(
            at=tx.at_ms,
            actor=by.name,
            via=by.via.value,
            kind=event.kind,
            scope=event.scope,
            name=event.name,
            version=event.version,
            details=msgspec.json.encode(event.details()).decode(),
            client_id=by.client_id,
            client_name=by.client_name,
            address=address,
        )
    )


def find_release(connection: Connection, scope: str) -> int:
    """The number of the entry that last released this name; 0 if none did."""
    query = sa.select(sa.func.max(audit.c.seq)).where(
        audit.c.scope == scope, audit.c.kind == ScopeReleased.kind
    )
    return connection.execute(query).scalar() or 0


def list_instants(
    connection: Connection, actor: str, kinds: Collection[str], since: int, now_ms: int
) -> list[int]:
    """The times of a person's actions of this kind after an instant, oldest first.

    Reads only the entries since then. Entries dated after `now_ms` are ignored: the clock was
    ahead.
    """
    query = sa.select(audit.c.seq, audit.c.at, audit.c.kind).where(audit.c.actor == actor)
    query = query.order_by(audit.c.seq.desc()).limit(_READ_AT_ONCE)
    found: list[int] = []
    rows = connection.execute(query).all()
    while rows:
        recent = list(takewhile(lambda it: bool(it.at > since), rows))
        found += [it.at for it in recent if it.kind in kinds and it.at <= now_ms]
        if len(recent) < _READ_AT_ONCE:
            break
        rows = connection.execute(query.where(audit.c.seq < rows[-1].seq)).all()
    return sorted(found)


def list_oldest(connection: Connection, before_ms: int) -> list[int]:
    """Numbers of the oldest entries, up to the first one that is not older than this time.

    So everything before a removed entry is removed as well: see `find_release`.
    """
    query = sa.select(audit.c.seq, audit.c.at).order_by(audit.c.seq).limit(_REMOVED_AT_ONCE)
    rows = connection.execute(query)
    return [row.seq for row in takewhile(lambda it: bool(it.at < before_ms), rows)]


def remove_entries(tx: Transaction, up_to: int) -> None:
    """All up to this number."""
    tx.connection.execute(sa.delete(audit).where(audit.c.seq <= up_to))


def list_entries(
    connection: Connection,
    scope: str | None,
    name: str | None,
    page: int,
    limit: int,
    *,
    about: str | None = None,
    after: int = 0,
) -> tuple[list[AuditEntry], int]:
    """A page of the log of a widget, of a scope or of all, newest first; and the total."""
    which = AuditFilter(scope=scope, name=name, about=about, after=after)
    return list_filtered(connection, which, page, limit)


def list_filtered(
    connection: Connection, which: AuditFilter, page: int, limit: int
) -> tuple[list[AuditEntry], int]:
    """A page of the entries that match a filter, newest first; and the total."""
    query = _filtered(which)
    count = sa.select(sa.func.count()).select_from(query.subquery())
    newest = query.order_by(audit.c.seq.desc()).limit(limit).offset((page - 1) * limit)
    return _entries(connection.execute(newest)), connection.execute(count).scalar_one()


def read_filtered(
    connection: Connection, which: AuditFilter, before: int | None, limit: int
) -> tuple[list[AuditEntry], int | None]:
    """The newest entries that match a filter, before a number; and the number to continue from,
    None at the end.
    """
    query = _filtered(which).order_by(audit.c.seq.desc()).limit(limit)
    if before is not None:
        query = query.where(audit.c.seq < before)
    rows = connection.execute(query).all()
    return _entries(rows), rows[-1].seq if len(rows) == limit else None


def _filtered(which: AuditFilter) -> sa.Select[Any]:
    query = sa.select(audit).where(audit.c.seq > which.after)
    for column in (audit.c.actor, audit.c.scope, audit.c.name):
        if (value := getattr(which, column.name)) is not None:
            query = query.where(column == value)
    if which.about is not None:
        query = query.where((audit.c.actor == which.about) | (audit.c.scope == which.about))
    if which.action is not None:
        kinds = [kind for kind, action in list_actions().items() if action == which.action]
        query = query.where(audit.c.kind.in_(kinds))
    if which.since is not None:
        query = query.where(audit.c.at >= which.since)
    if which.until is not None:
        query = query.where(audit.c.at < which.until)
    return query


def _entries(rows: Iterable[Any]) -> list[AuditEntry]:
    actions = list_actions()
    return [
        AuditEntry(
            at=row.at,
            actor=row.actor,
            via=row.via,
            action=actions.get(row.kind, row.kind),
            scope=row.scope,
            name=row.name,
            version=row.version,
            details=msgspec.json.decode(row.details),
            client_id=row.client_id,
            client_name=row.client_name,
            address=row.address,
        )
        for row in rows
    ]


def read_scope_audit(
    connection: Snapshot, actor: Actor, scope: str, name: str | None, page: int, limit: int
) -> tuple[list[AuditEntry], int]:
    """A page, and the total. Without entries from before the scope was released; operators see
    those, too.
    """
    after = 0 if actor.is_operator else find_release(connection, scope)
    entries, total = list_entries(connection, scope, name, page, limit, after=after)
    return _readable_by(actor, entries), total


def read_account_audit(connection: Snapshot, actor: Actor, limit: int) -> list[AuditEntry]:
    """Recent actions of a person, and events of their account."""
    entries, _ = list_entries(connection, None, None, 1, limit, about=actor.name)
    return _readable_by(actor, entries)


def shown_entry(entry: AuditEntry) -> dict[str, object]:
    """An entry as JSON, for the API and for the operator's command."""
    return {
        "at": iso(from_ms(entry.at)),
        "actor": entry.actor,
        "via": entry.via,
        "clientId": entry.client_id,
        "clientName": entry.client_name,
        "address": entry.address,
        "action": entry.action,
        "scope": entry.scope,
        "name": entry.name,
        "version": entry.version,
        "details": entry.details,
    }


def _readable_by(actor: Actor, entries: list[AuditEntry]) -> list[AuditEntry]:
    if actor.is_operator:
        return entries
    shown = (actor.name, Anonymous.name)  # Of a failed sign-in, only the address is known.
    return [it if it.actor in shown else it._replace(address=None) for it in entries]
