"""The change feed: every write to the catalog, numbered without gaps."""

from collections.abc import Sequence
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from .bulk import insert_rows
from .engine import Transaction
from .schema import changes


class Change(NamedTuple):
    seq: int
    widget_id: int
    scope: str
    changed_at: int


def append(tx: Transaction, changed: Sequence[tuple[int, str]]) -> int:
    """Say that the widgets with these numbers, in these scopes, have changed; the feed's new end.

    Numbers follow the order of commits, because there is one writer at a time.
    """
    first = latest_seq(tx.connection) + 1
    insert_rows(
        tx.connection,
        changes,
        [(first + i, widget_id, scope, tx.at_ms) for i, (widget_id, scope) in enumerate(changed)],
    )
    return first + len(changed) - 1


def latest_seq(connection: Connection) -> int:
    query = sa.select(sa.func.coalesce(sa.func.max(changes.c.seq), 0))
    return int(connection.execute(query).scalar_one())


def list_changes(connection: Connection, after: int, limit: int = 1000) -> list[Change]:
    query = sa.select(changes).where(changes.c.seq > after).order_by(changes.c.seq).limit(limit)
    return [Change(*row) for row in connection.execute(query)]
