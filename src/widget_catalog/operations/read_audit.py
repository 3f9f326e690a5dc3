"""Reads the audit log of a widget, an organization, an account, or the whole catalog.

IP addresses are personal: they are shown only to the person who acted and to operators.
"""

from ..accounts.permissions import require_operator, require_operator_now, require_person
from ..catalog.store.audit import (
    AuditFilter,
    Entry,
    find_release,
    list_entries,
    list_filtered,
    read_filtered,
)
from ..catalog.store.widgets import get_widget
from ..catalog.widgets import parse_key
from ..core.actors import Actor, Right, Stranger
from ..core.clock import from_ms, iso
from ..core.db.engine import Snapshot, Store
from ..organizations.permissions import require
from ..organizations.store import get_organization


def shown_entry(entry: Entry) -> dict[str, object]:
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


def read_widget_audit(
    store: Store, actor: Actor, key: str, page: int, limit: int
) -> tuple[list[Entry], int]:
    scope, name = parse_key(key)
    with store.reading() as connection:
        require(connection, actor, Right.READ_AUDIT, scope, name)
        get_widget(connection, scope, name)
        entries, total = _list_own(connection, actor, scope, name, page, limit)
    return _readable_by(actor, entries), total


def read_organization_audit(
    store: Store, actor: Actor, slug: str, page: int, limit: int
) -> tuple[list[Entry], int]:
    """Everything that happens in its scope: to its members, and to its widgets."""
    require_person(actor)
    with store.reading() as connection:
        require(connection, actor, Right.READ_AUDIT, slug)
        get_organization(connection, slug)
        entries, total = _list_own(connection, actor, slug, None, page, limit)
    return _readable_by(actor, entries), total


def read_own_audit(store: Store, actor: Actor, limit: int) -> list[Entry]:
    """Recent actions of a person, and events of their account."""
    account = require_person(actor)
    with store.reading() as connection:
        entries, _ = list_entries(connection, None, None, 1, limit, about=account.username)
    return _readable_by(actor, entries)


def _list_own(
    connection: Snapshot, actor: Actor, scope: str, name: str | None, page: int, limit: int
) -> tuple[list[Entry], int]:
    """Without entries from before the scope was released; operators see those, too."""
    after = 0 if actor.is_operator else find_release(connection, scope)
    return list_entries(connection, scope, name, page, limit, after=after)


def read_whole_audit(store: Store, actor: Actor, page: int, limit: int) -> tuple[list[Entry], int]:
    require_operator(actor)
    with store.reading() as connection:
        return list_entries(connection, None, None, page, limit)


def search_audit(
    store: Store, actor: Actor, which: AuditFilter, page: int, limit: int
) -> tuple[list[Entry], int]:
    """By the operator: a page of the entries that match the filter, and the total."""
    with store.reading() as connection:
        require_operator_now(connection, actor)
        return list_filtered(connection, which, page, limit)


def read_audit_part(
    store: Store, actor: Actor, which: AuditFilter, before: int | None, limit: int
) -> tuple[list[Entry], int | None]:
    """By the operator: the entries that match the filter, one part at a time."""
    with store.reading() as connection:
        require_operator_now(connection, actor)
        return read_filtered(connection, which, before, limit)


def _readable_by(actor: Actor, entries: list[Entry]) -> list[Entry]:
    if actor.is_operator:
        return entries
    shown = (actor.name, Stranger.name)  # Of a failed sign-in, only the address is known.
    return [it if it.actor in shown else it._replace(address=None) for it in entries]
