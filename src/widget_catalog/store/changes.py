"""The change feed: every write to the catalog, numbered without gaps."""

from collections.abc import Sequence
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from .bulk import insert_rows
from .engine import Transaction
from .rows import StoredWidget
from .schema import changes


class Change(NamedTuple):
    seq: int
    widget_id: int
    scope: str
    changed_at: int


def append(tx: Transaction, saved: Sequence[StoredWidget]) -> int:
    """Say that these widgets have changed; gives the feed's new end.

    Numbers follow the order of commits, because there is one writer at a time.
    """
    first = latest_seq(tx.connection) + 1
    insert_rows(
        tx.connection,
        changes,
        [Change(first + i, it.id, str(it.widget.scope), tx.at_ms) for i, it in enumerate(saved)],
    )
    return first + len(saved) - 1


def latest_seq(connection: Connection) -> int:
    query = sa.select(sa.func.coalesce(sa.func.max(changes.c.seq), 0))
    return int(connection.execute(query).scalar_one())


def list_changes(connection: Connection, after: int, limit: int = 1000) -> list[Change]:
    query = sa.select(changes).where(changes.c.seq > after).order_by(changes.c.seq).limit(limit)
    return [Change(*row) for row in connection.execute(query)]
