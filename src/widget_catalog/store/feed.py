"""The change feed: what has happened to widgets, numbered without gaps.

Readers follow it from the number they have. Rows are written by `events.append`.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from .bulk import insert_rows, stream_numbers
from .engine import Transaction
from .schema import changes

# Asked for by every write: as text, which takes SQLAlchemy a third of the time.
LATEST_SEQ = "SELECT coalesce(max(seq), 0) FROM changes"


class Change(NamedTuple):
    seq: int
    widget_id: int
    scope: str
    changed_at: int
    kind: str
    """One of those in `domain/events.py`."""
    version: str | None
    """None if it happened to the widget, or to several versions."""


def add_changes(tx: Transaction, new: Sequence[tuple[int, str, str, str | None]]) -> int:
    """Number, scope, kind and version, in the order they happened in; gives the feed's new end.

    Numbers follow the order of commits, because one publishes at a time.
    """
    if not tx.is_publishing:
        raise ValueError("What the public sees is changed in Store.publishing.")
    first = latest_seq(tx.connection) + 1
    at = tx.at_ms
    rows = [
        (seq, widget_id, scope, at, kind, version)
        for seq, (widget_id, scope, kind, version) in enumerate(new, first)
    ]
    insert_rows(tx.connection, changes, rows)
    return first + len(new) - 1


def latest_seq(connection: Connection) -> int:
    return int(connection.exec_driver_sql(LATEST_SEQ).scalar_one())


def find_change(connection: Connection, seq: int) -> Change | None:
    row = connection.execute(sa.select(changes).where(changes.c.seq == seq)).first()
    return None if row is None else Change(*row)


def stream_times(connection: Connection) -> Iterator[list[str]]:
    """Numbers of widgets and when each changed, oldest first, joined by commas."""
    return stream_numbers(connection, changes.c.seq, changes.c.widget_id, changes.c.changed_at)


def list_changes(connection: Connection, after: int, limit: int = 1000) -> list[Change]:
    query = sa.select(changes).where(changes.c.seq > after).order_by(changes.c.seq).limit(limit)
    return [Change(*row) for row in connection.execute(query)]
