"""Installs by day in the store."""

from collections.abc import Mapping
from functools import cache

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ...core.db.bulk import value_rows
from ...core.db.transaction import Write
from .count_table import installs_by_day

_AT_ONCE = 100


def add_installs(tx: Write, increments: Mapping[tuple[int, int], int]) -> None:
    """Add to the counts of these widgets on these days."""
    # In the order of the keys, so that two writers never deadlock.
    keys = sorted(increments)
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        values = tuple(it for key in some for it in (*key, increments[key]))
        tx.run(_addition(tx.dialect, len(some)), values)


@cache
def _addition(dialect: str, rows: int) -> str:
    return (
        "INSERT INTO installs_by_day (widget_id, day, count) "  # noqa: S608
        f"VALUES {value_rows(dialect, rows, 3)} ON CONFLICT (widget_id, day) DO UPDATE "
        "SET count = installs_by_day.count + excluded.count"
    )


def list_installs(connection: Connection, widget_id: int, since_day: int) -> list[tuple[int, int]]:
    """Days and counts of a widget from a day on; days without any are left out."""
    table = installs_by_day.c
    query = sa.select(table.day, table.count).where(
        table.widget_id == widget_id, table.day >= since_day
    )
    return [(row[0], row[1]) for row in connection.execute(query)]
