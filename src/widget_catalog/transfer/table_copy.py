"""Copies every table into another database, SQLite or PostgreSQL, and compares them.

Each table is copied in one transaction, so it is in the target completely or not at all. An
interrupted move continues with the missing tables.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec
import sqlalchemy as sa
import xxhash
from sqlalchemy.engine import Connection

from ..catalog.store.downloads import downloads
from ..core.db.bulk import insert_rows
from ..core.db.engine import Store
from ..core.db.schema import SEALED, channels, leaders, metadata
from ..core.db.tables import load_tables
from ..core.errors import StoreUnavailable

_AT_ONCE = 1_000
_encode = msgspec.msgpack.Encoder().encode

_OF_RUNNING_NODES = (channels, leaders)
_OF_ALEMBIC = "alembic_version"

Reseal = Callable[[str], str]
"""What was sealed for one catalog, sealed for the other."""


class TableDigest(NamedTuple):
    """The same for the same rows, in any order."""

    rows: int
    digest: int


def tables(connection: Connection) -> list[sa.Table]:
    """All tables of the catalog, in dependency order.

    Raises StoreUnavailable if the database has one of a capability that is not installed: what it
    holds would be lost.
    """
    load_tables()
    unknown = set(sa.inspect(connection).get_table_names()) - {*metadata.tables, _OF_ALEMBIC}
    if unknown:
        raise StoreUnavailable(
            f"The database has tables that this installation does not know: "
            f"{', '.join(sorted(unknown))}. Nothing was moved."
        )
    return [it for it in metadata.sorted_tables if it not in _OF_RUNNING_NODES]


def digest_table(connection: Connection, table: sa.Table) -> TableDigest:
    """Excludes values that differ between databases: transaction ids, and encrypted secrets."""
    rows, digest = 0, 0
    for row in _stream(connection, table, _compared(table)):
        rows += 1
        digest = (digest + xxhash.xxh3_64_intdigest(_encode(tuple(row)))) & 0xFFFF_FFFF_FFFF_FFFF
    return TableDigest(rows, digest)


def copy_table(
    source: Connection,
    target: Store,
    table: sa.Table,
    reseal: Reseal,
    progress: Callable[[int], None],
) -> None:
    with target.publishing() as tx:
        for some in _batches(_stream(source, table, list(table.columns))):
            insert_rows(tx.connection, table, [_adapted(table, row, reseal) for row in some])
            progress(len(some))
        if tx.connection.dialect.name == "postgresql":
            _go_on_numbering(tx.connection, table)


def _stream(
    connection: Connection, table: sa.Table, columns: list[sa.Column[Any]]
) -> Iterator[sa.Row[Any]]:
    streaming = connection.execution_options(yield_per=_AT_ONCE)
    yield from streaming.execute(sa.select(*columns).select_from(table))


def _batches(rows: Iterator[sa.Row[Any]]) -> Iterator[list[sa.Row[Any]]]:
    some: list[sa.Row[Any]] = []
    for row in rows:
        some.append(row)
        if len(some) == _AT_ONCE:
            yield some
            some = []
    if some:
        yield some


def _compared(table: sa.Table) -> list[sa.Column[Any]]:
    return [
        it for it in table.columns if it is not downloads.c.changed_in and SEALED not in it.info
    ]


def _adapted(table: sa.Table, row: sa.Row[Any], reseal: Reseal) -> tuple[Any, ...]:
    values = dict(zip(table.columns.keys(), row, strict=True))
    if table is downloads:
        values["changed_in"] = None  # Every node reads all counts when it starts.
    for column in table.columns:
        if SEALED in column.info and values[column.name] is not None:
            values[column.name] = reseal(values[column.name])
    return tuple(values.values())


def _go_on_numbering(connection: Connection, table: sa.Table) -> None:
    """Advance sequences past the copied rows."""
    column = table.autoincrement_column
    if column is None:
        return
    largest = sa.select(sa.func.max(column)).scalar_subquery()
    sequence = sa.func.pg_get_serial_sequence(table.name, column.name)
    connection.execute(
        sa.select(sa.func.setval(sequence, largest)).where(sequence.is_not(None), largest > 0)
    )
