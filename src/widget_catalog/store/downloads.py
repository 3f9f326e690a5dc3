"""Download counts in the store."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from .bulk import insert_into, insert_rows, stream_numbers
from .count_table import downloads
from .engine import Transaction
from .postgresql import current_transaction, next_transaction

_IDS_PER_QUERY = 500
_COUNTS = sa.select(downloads.c.widget_id, downloads.c.count).where(
    downloads.c.widget_id.in_(sa.bindparam("ids", expanding=True))
)


def add_downloads(tx: Transaction, increments: Mapping[int, int]) -> None:
    """Add to the counts of these widgets, all in one statement run many times."""
    # In the order of the keys, so that two writers never lock rows crosswise.
    number = current_transaction(tx.connection)
    rows = [
        {"widget_id": key, "count": increments[key], "changed_in": number}
        for key in sorted(increments)
    ]
    tx.connection.execute(_addition(tx.connection.dialect.name), rows)
    tx.counts |= get_counts(tx.connection, list(increments))


@cache
def _addition(dialect: str) -> sa.Insert:
    """Made once: that takes longer than to run it."""
    insert = insert_into(dialect, downloads)
    return insert.on_conflict_do_update(
        index_elements=[downloads.c.widget_id],
        set_={
            "count": downloads.c.count + insert.excluded.count,
            "changed_in": insert.excluded.changed_in,
        },
    )


def set_counts(tx: Transaction, counts: Mapping[int, int]) -> None:
    """State the counts of widgets that have none yet; zeros too, but they take no row."""
    number = current_transaction(tx.connection)
    insert_rows(tx.connection, downloads, [(*it, number) for it in counts.items() if it[1]])
    tx.counts |= counts


def get_counts(connection: Connection, ids: Sequence[int]) -> dict[int, int]:
    """The counts of these widgets; a widget never downloaded is left out."""
    found: dict[int, int] = {}
    for start in range(0, len(ids), _IDS_PER_QUERY):
        rows = connection.execute(_COUNTS, {"ids": ids[start : start + _IDS_PER_QUERY]})
        found |= {row[0]: row[1] for row in rows}
    return found


def stream_counts(connection: Connection) -> Iterator[list[str]]:
    """Numbers of widgets and their counts, joined by commas; who has none is left out."""
    key = downloads.c.widget_id
    return stream_numbers(connection, key, key, downloads.c.count)


def list_counted(connection: Connection, since: int) -> list[tuple[int, int]]:
    """On PostgreSQL: the counts that may have changed after a snapshot whose `oldest_transaction`
    was this. Some may be given twice, none is left out, however long its transaction took.

    A database that was restored from a dump has larger numbers of its former life, which say
    nothing.
    """
    query = sa.select(downloads.c.widget_id, downloads.c.count).where(
        downloads.c.changed_in >= since, downloads.c.changed_in < next_transaction(connection)
    )
    return [(row[0], row[1]) for row in connection.execute(query)]
