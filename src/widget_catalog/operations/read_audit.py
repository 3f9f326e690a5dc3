"""Reads the audit log of the whole catalog, for operators."""

from ..accounts.permissions import require_operator, require_operator_now
from ..catalog.store.audit import AuditFilter, Entry, list_entries, list_filtered, read_filtered
from ..core.actors import Actor
from ..core.db.engine import Store


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
