"""Installs by day in the store."""

from collections.abc import Mapping
from functools import cache

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from .bulk import insert_into
from .count_table import installs_by_day
from .engine import Transaction


def add_installs(tx: Transaction, increments: Mapping[tuple[int, int], int]) -> None:
    """Add to the counts of these widgets on these days."""
    # In the order of the keys, so that two writers never lock rows crosswise.
    rows = [
        {"widget_id": key[0], "day": key[1], "count": increments[key]} for key in sorted(increments)
    ]
    tx.connection.execute(_addition(tx.connection.dialect.name), rows)


def list_installs(connection: Connection, widget_id: int, since_day: int) -> list[tuple[int, int]]:
    """Days and counts of a widget from a day on; days without any are left out."""
    table = installs_by_day.c
    query = sa.select(table.day, table.count).where(
        table.widget_id == widget_id, table.day >= since_day
    )
    return [(row[0], row[1]) for row in connection.execute(query)]


@cache
def _addition(dialect: str) -> sa.Insert:
    insert = insert_into(dialect, installs_by_day)
    return insert.on_conflict_do_update(
        index_elements=[installs_by_day.c.widget_id, installs_by_day.c.day],
        set_={"count": installs_by_day.c.count + insert.excluded.count},
    )
