"""The change feed: events of widgets, numbered without gaps.

Readers follow it from their last number. Rows are written by `events.append`.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ...core.db.bulk import insert_rows, stream_numbers
from ...core.db.engine import Store, Transaction
from ...core.tracing import outgoing_headers
from .tables import changes

# Run by every write: as text, which takes SQLAlchemy a third of the time.
LATEST_SEQ = "SELECT coalesce(max(seq), 0) FROM changes"


class StoredChange(NamedTuple):
    seq: int
    widget_id: int
    scope: str
    changed_at: int
    kind: str
    """One of those in `catalog/model/events.py`."""
    version: str | None
    """None if it happened to the widget, or to several versions."""


_CHANGE = [changes.c[it] for it in StoredChange._fields]


def add_changes(tx: Transaction, new: Sequence[tuple[int, str, str, str | None]]) -> int:
    """Number, scope, kind and version, in order; returns the new end of the feed.

    Numbers follow the order of commits, because publishing is serialized.
    """
    if not tx.is_publishing:
        raise ValueError("What the public sees is changed in Store.publishing.")
    first = latest_seq(tx.connection) + 1
    at, traceparent = tx.at_ms, outgoing_headers().get("traceparent")
    rows = [
        (seq, widget_id, scope, at, kind, version, traceparent)
        for seq, (widget_id, scope, kind, version) in enumerate(new, first)
    ]
    insert_rows(tx.connection, changes, rows)
    return first + len(new) - 1


def newest_change(store: Store) -> int:
    """The number of the newest change, of any node."""
    with store.reading() as connection:
        return latest_seq(connection)


def latest_seq(connection: Connection) -> int:
    return int(connection.exec_driver_sql(LATEST_SEQ).scalar_one())


def find_change(connection: Connection, seq: int) -> StoredChange | None:
    row = connection.execute(sa.select(*_CHANGE).where(changes.c.seq == seq)).first()
    return None if row is None else StoredChange(*row)


def stream_times(connection: Connection) -> Iterator[list[str]]:
    """Numbers of widgets and the time of each change, oldest first, joined by commas."""
    return stream_numbers(connection, changes.c.seq, changes.c.widget_id, changes.c.changed_at)


def list_changes(connection: Connection, after: int, limit: int = 1000) -> list[StoredChange]:
    query = sa.select(*_CHANGE).where(changes.c.seq > after).order_by(changes.c.seq).limit(limit)
    return [StoredChange(*row) for row in connection.execute(query)]
