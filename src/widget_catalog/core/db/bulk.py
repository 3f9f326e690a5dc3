"""Bulk inserts, look-ups and reads at the driver's speed, and upserts.

For hundreds of thousands of rows SQLAlchemy's parameter handling costs more than the database;
only `insert_rows` bypasses it.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from operator import itemgetter
from types import NoneType
from typing import TYPE_CHECKING, Any, cast

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import Connection

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql

_MANY = 100_000
# From this many rows on, COPY is faster than inserts, despite an additional round trip.
_WORTH_COPYING = 10

# For types other than numbers and text, the driver first looks for a registered adapter. Finding
# one takes half as long as finding none.
sqlite3.register_adapter(NoneType, lambda nothing: nothing)
sqlite3.register_adapter(bool, int)
sqlite3.register_adapter(bytes, bytes)


def insert_rows(connection: Connection, table: sa.Table, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert tuples in the order of the table's columns."""
    if not rows:
        return
    if connection.dialect.name == "postgresql" and len(rows) >= _WORTH_COPYING:
        _copy_rows(connection, table, rows)
        return
    mark = "?" if connection.dialect.paramstyle == "qmark" else "%s"
    names, given = _without_empty(table.columns.keys(), rows)
    marks = ", ".join([mark] * len(names))
    statement = f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({marks})"  # noqa: S608
    connection.exec_driver_sql(statement, given)


def _without_empty(
    names: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> tuple[Sequence[str], list[tuple[Any, ...]]]:
    """The columns in which any row has a value, and the rows without the others: a third of a
    version's columns is rarely used, and the driver takes as long for a NULL as for a value.
    """
    if len(rows) < _WORTH_COPYING:
        return names, list(rows)
    used = [i for i in range(len(names)) if any(row[i] is not None for row in rows)]
    if len(used) < 2:
        return names, list(rows)
    return [names[i] for i in used], [*map(itemgetter(*used), rows)]


def _copy_rows(connection: Connection, table: sa.Table, rows: Sequence[tuple[Any, ...]]) -> None:
    """With PostgreSQL's COPY, which takes a fifth of the time of inserts."""
    import psycopg

    columns = ", ".join(table.columns.keys())
    statement = f"COPY {table.name} ({columns}) FROM STDIN"
    driver = cast("psycopg.Connection[Any]", connection.connection.driver_connection)
    try:
        with driver.cursor() as cursor, cursor.copy(statement.encode()) as copy:
            for row in rows:
                copy.write_row(row)
    except psycopg.Error as error:
        # As raised by SQLAlchemy.
        raise sa.exc.DBAPIError.instance(
            statement, None, error, psycopg.Error, hide_parameters=True, dialect=connection.dialect
        ) from error


def value_rows(dialect: str, rows: int, columns: int) -> str:
    """The part of SQL text after VALUES: a parameter for each column."""
    mark = "?" if dialect == "sqlite" else "%s"
    row = f"({', '.join([mark] * columns)})"
    return ", ".join([row] * rows)


def insert_into(dialect: str, table: sa.Table) -> "sqlite.Insert | postgresql.Insert":
    """An insert that supports ON CONFLICT."""
    # The only place that distinguishes dialects: ON CONFLICT is not standard SQL.
    if dialect == "sqlite":
        return sqlite.insert(table)
    # Slow to load, so only imported if used.
    from sqlalchemy.dialects import postgresql

    return postgresql.insert(table)


def stream_numbers(
    connection: Connection, by: sa.Column[int], *columns: sa.Column[int]
) -> Iterator[list[str]]:
    """All rows of a table in key order, many at a time: each column joined by commas.

    Creating Python objects for a million rows would take several times as long.
    """
    last = 0
    while True:
        query = sa.select(by, *columns).where(by > last).order_by(by).limit(_MANY).subquery()
        texts = [sa.cast(query.c[it.name], sa.Text) for it in columns]
        joined = [sa.func.aggregate_strings(it, ",") for it in texts]
        row = connection.execute(sa.select(sa.func.max(query.c[by.name]), *joined)).one()
        if row[0] is None:
            return
        last = row[0]
        yield list(row[1:])


def keys_looked_up(dialect: str, count: int, *, for_driver: bool = False) -> str:
    """SQL text after FROM for the widgets with this many keys, looked up one by one.

    For `(scope, name) IN (…)` SQLite would read the whole index. PostgreSQL's driver takes far
    longer for a thousand parameters than for two lists. `for_driver`: with the placeholders of the
    driver, which takes SQLAlchemy four times as long to create.
    """
    if dialect == "postgresql":
        scopes, names = ("%(scopes)s", "%(names)s") if for_driver else (":scopes", ":names")
        lists = f"CAST({scopes} AS text[]), CAST({names} AS text[])"
        keys = f"unnest({lists}) AS wanted(column1, column2)"
    elif for_driver:
        keys = f"(VALUES {value_rows(dialect, count, 2)}) AS wanted"
    else:
        marks = ", ".join(f"(:scope{i}, :name{i})" for i in range(count))
        keys = f"(VALUES {marks}) AS wanted"
    return (
        f"{keys} CROSS JOIN widgets "
        "WHERE widgets.scope = wanted.column1 AND widgets.name = wanted.column2"
    )


def key_parameters(dialect: str, keys: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The keys of `keys_looked_up`, each a scope and a name."""
    if dialect == "postgresql":
        return {"scopes": [str(it[0]) for it in keys], "names": [str(it[1]) for it in keys]}
    given = {f"scope{i}": scope for i, (scope, _) in enumerate(keys)}
    return given | {f"name{i}": name for i, (_, name) in enumerate(keys)}


def driver_key_parameters(
    dialect: str, keys: Sequence[tuple[str, str]]
) -> dict[str, Any] | tuple[str, ...]:
    if dialect == "postgresql":
        return key_parameters(dialect, keys)
    return tuple(str(part) for key in keys for part in key)
