"""Removes expired entries of the audit log."""

from ..catalog.store.audit import list_oldest, remove_entries
from ..core.db.engine import Store

_DAY_MS = 86_400_000


def prune_audit(store: Store, keep_days: int) -> None:
    """In batches, to avoid long transactions; 0 days: entries are kept forever."""
    if not keep_days:
        return
    before_ms = store.now_ms() - keep_days * _DAY_MS
    while True:
        with store.reading() as connection:
            oldest = list_oldest(connection, before_ms)
        if not oldest:
            return
        with store.writing() as tx:
            remove_entries(tx, oldest[-1])
