"""Download counts in the store, in total and by day."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, Table
from sqlalchemy.engine import Connection

from ...core.db.bulk import insert_rows, stream_numbers, value_rows
from ...core.db.engine import Transaction
from ...core.db.schema import Number, metadata
from ...core.db.transaction import Write
from ...core.db.transaction_ids import current_transaction, next_transaction
from .tables import widgets

downloads = Table(
    "downloads",
    metadata,
    Column("widget_id", Number, ForeignKey("widgets.id"), primary_key=True, autoincrement=False),
    Column("count", BigInteger, nullable=False),
    Column("changed_in", BigInteger),  # The transaction, on PostgreSQL: for other nodes.
)

_changed_in = downloads.c.changed_in  # On SQLite the index is empty, and costs nothing.
Index("ix_downloads_changed_in", _changed_in, sqlite_where=_changed_in.is_not(None))

# Counts per day, for charts. Days are numbered from 1970, in UTC.
installs_by_day = Table(
    "installs_by_day",
    metadata,
    Column("widget_id", Number, ForeignKey("widgets.id"), primary_key=True, autoincrement=False),
    Column("day", Integer, primary_key=True, autoincrement=False),
    Column("count", BigInteger, nullable=False),
    # For the recent days of all widgets. Counting again on the same day does not change it.
    Index("ix_installs_by_day_day", "day"),
    sqlite_with_rowid=False,
)

_IDS_PER_QUERY = 500
_ADDED_AT_ONCE = 100
_COUNTS = sa.select(downloads.c.widget_id, downloads.c.count).where(
    downloads.c.widget_id.in_(sa.bindparam("ids", expanding=True))
)
# Built once: that takes four times as long as running it, and every new page of a widget does.
INSTALLS = sa.select(installs_by_day.c.day, installs_by_day.c.count).where(
    installs_by_day.c.widget_id == sa.bindparam("of_widget"),
    installs_by_day.c.day >= sa.bindparam("since_day"),
)

# One statement for any number of widgets, in the order of the keys, so that two nodes never
# deadlock.
_ADDITION_ON_POSTGRESQL = """
    INSERT INTO downloads (widget_id, count, changed_in)
    SELECT widget_id, added, pg_current_xact_id()::text::bigint
    FROM unnest(%s::bigint[], %s::bigint[]) AS counted(widget_id, added)
    ORDER BY widget_id
    ON CONFLICT (widget_id) DO UPDATE
    SET count = downloads.count + excluded.count, changed_in = excluded.changed_in
    RETURNING widget_id, count
"""


def add_downloads(tx: Write, increments: Mapping[int, int]) -> None:
    ids = list(increments)
    if tx.dialect == "postgresql":
        counted = tx.run(_ADDITION_ON_POSTGRESQL, (ids, list(increments.values())))
        tx.counts |= {row[0]: row[1] for row in counted}
        return
    for start in range(0, len(ids), _ADDED_AT_ONCE):
        some = ids[start : start + _ADDED_AT_ONCE]
        values = tuple(it for key in some for it in (key, increments[key]))
        counted = tx.run(_addition(len(some)), values)
        tx.counts |= {row[0]: row[1] for row in counted}


@cache
def _addition(rows: int) -> str:
    return (
        "INSERT INTO downloads (widget_id, count) "  # noqa: S608
        f"VALUES {value_rows('sqlite', rows, 2)} ON CONFLICT (widget_id) DO UPDATE "
        "SET count = downloads.count + excluded.count RETURNING widget_id, count"
    )


def set_counts(tx: Transaction, counts: Mapping[int, int]) -> None:
    """Set the counts of widgets that have none yet; zeros take no row."""
    number = current_transaction(tx.connection)
    insert_rows(tx.connection, downloads, [(*it, number) for it in counts.items() if it[1]])
    tx.counts |= counts


def get_counts(connection: Connection, ids: Sequence[int]) -> dict[int, int]:
    """The counts of these widgets; widgets that were never downloaded are omitted."""
    found: dict[int, int] = {}
    for start in range(0, len(ids), _IDS_PER_QUERY):
        rows = connection.execute(_COUNTS, {"ids": ids[start : start + _IDS_PER_QUERY]})
        found |= {row[0]: row[1] for row in rows}
    return found


def stream_counts(connection: Connection) -> Iterator[list[str]]:
    """Numbers of widgets and their counts, joined by commas; widgets without downloads are
    omitted.
    """
    key = downloads.c.widget_id
    return stream_numbers(connection, key, key, downloads.c.count)


def list_counted(connection: Connection, since: int) -> list[tuple[int, int]]:
    """On PostgreSQL: counts that may have changed after a snapshot with this `oldest_transaction`.
    Some may be returned twice, none is missing, however long its transaction took.

    A database restored from a dump has larger transaction ids from its former server, which are
    meaningless.
    """
    query = sa.select(downloads.c.widget_id, downloads.c.count).where(
        downloads.c.changed_in >= since, downloads.c.changed_in < next_transaction(connection)
    )
    return [(row[0], row[1]) for row in connection.execute(query)]


def add_installs(tx: Write, increments: Mapping[tuple[int, int], int]) -> None:
    # In the order of the keys, so that two writers never deadlock.
    keys = sorted(increments)
    for start in range(0, len(keys), _ADDED_AT_ONCE):
        some = keys[start : start + _ADDED_AT_ONCE]
        values = tuple(it for key in some for it in (*key, increments[key]))
        tx.run(_day_addition(tx.dialect, len(some)), values)


@cache
def _day_addition(dialect: str, rows: int) -> str:
    return (
        "INSERT INTO installs_by_day (widget_id, day, count) "  # noqa: S608
        f"VALUES {value_rows(dialect, rows, 3)} ON CONFLICT (widget_id, day) DO UPDATE "
        "SET count = installs_by_day.count + excluded.count"
    )


def list_installs(connection: Connection, widget_id: int, since_day: int) -> list[tuple[int, int]]:
    """Days and counts of a widget from a day on; days without any are left out."""
    found = connection.execute(INSTALLS, {"of_widget": widget_id, "since_day": since_day})
    return [(row[0], row[1]) for row in found]


class WidgetInstalls(NamedTuple):
    widget_id: int
    key: str
    installs: int


def list_most_installed(
    connection: Connection, days: Sequence[int], most: int
) -> list[WidgetInstalls]:
    """The listed widgets with the most installs on these days."""
    table, total = installs_by_day.c, sa.func.sum(installs_by_day.c.count)
    recent = (
        sa.select(table.widget_id, total.label("total"))
        # A list: for a range, SQLite reads the whole table in the order of its key instead.
        .where(table.day.in_(days))
        .group_by(table.widget_id)
        .subquery()
    )
    query = (
        sa.select(widgets.c.id, widgets.c.scope, widgets.c.name, recent.c.total)
        .join(recent, recent.c.widget_id == widgets.c.id)
        .where(widgets.c.is_listed)
        .order_by(recent.c.total.desc(), widgets.c.id)
        .limit(most)
    )
    rows = connection.execute(query)
    return [WidgetInstalls(it[0], f"{it[1]}/{it[2]}", int(it[3])) for it in rows]


def sum_installs(
    connection: Connection, ids: Sequence[int], first_day: int, end_day: int
) -> dict[int, int]:
    """The installs of these widgets in the days before `end_day`; those without any are omitted."""
    table, total = installs_by_day.c, sa.func.sum(installs_by_day.c.count)
    found: dict[int, int] = {}
    for start in range(0, len(ids), _IDS_PER_QUERY):
        query = (
            sa.select(table.widget_id, total)
            .where(table.widget_id.in_(ids[start : start + _IDS_PER_QUERY]))
            .where(table.day >= first_day, table.day < end_day)
            .group_by(table.widget_id)
        )
        found |= {row[0]: int(row[1]) for row in connection.execute(query)}
    return found
