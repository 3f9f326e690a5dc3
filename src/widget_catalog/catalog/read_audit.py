"""Reads the audit log of a scope, a widget or an account. The rooms that call this check
permissions.

IP addresses are personal: they are shown only to the person who acted and to operators.
"""

from ..core.actors import Actor, Stranger
from ..core.clock import from_ms, iso
from ..core.db.engine import Snapshot
from .store.audit import Entry, find_release, list_entries


def read_scope_audit(
    connection: Snapshot, actor: Actor, scope: str, name: str | None, page: int, limit: int
) -> tuple[list[Entry], int]:
    """A page, and the total. Without entries from before the scope was released; operators see
    those, too.
    """
    after = 0 if actor.is_operator else find_release(connection, scope)
    entries, total = list_entries(connection, scope, name, page, limit, after=after)
    return _readable_by(actor, entries), total


def read_account_audit(connection: Snapshot, actor: Actor, limit: int) -> list[Entry]:
    """Recent actions of a person, and events of their account."""
    entries, _ = list_entries(connection, None, None, 1, limit, about=actor.name)
    return _readable_by(actor, entries)


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


def _readable_by(actor: Actor, entries: list[Entry]) -> list[Entry]:
    if actor.is_operator:
        return entries
    shown = (actor.name, Stranger.name)  # Of a failed sign-in, only the address is known.
    return [it if it.actor in shown else it._replace(address=None) for it in entries]
