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

from ..catalog.store.count_table import downloads
from ..catalog.store.files import file_removals
from ..core.db.bulk import insert_rows
from ..core.db.engine import Store
from ..core.db.node_tables import channels, leaders
from ..core.db.schema import authenticator_apps
from ..mirror.tables import mirrors
from ..moderation.tables import reports
from ..webhooks.tables import webhooks
from .tables import imports

_AT_ONCE = 1_000
_encode = msgspec.msgpack.Encoder().encode

# Encrypted with a key of the catalog.
_SEALED = (
    authenticator_apps.c.sealed_secret,
    webhooks.c.sealed_secret,
    webhooks.c.former_sealed_secret,
)

_OF_RUNNING_NODES = (channels, leaders)

Reseal = Callable[[str], str]
"""What was sealed for one catalog, sealed for the other."""


class TableDigest(NamedTuple):
    """The same for the same rows, in any order."""

    rows: int
    digest: int


def tables() -> list[sa.Table]:
    """All tables of the catalog, in dependency order."""
    in_modules_of_their_own = (downloads, file_removals, imports, mirrors, reports, webhooks)
    found = in_modules_of_their_own[0].metadata.sorted_tables
    return [it for it in found if it not in _OF_RUNNING_NODES]


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
    left_out = (downloads.c.changed_in, *_SEALED)
    return [it for it in table.columns if not any(it is other for other in left_out)]


def _adapted(table: sa.Table, row: sa.Row[Any], reseal: Reseal) -> tuple[Any, ...]:
    values = dict(zip(table.columns.keys(), row, strict=True))
    if table is downloads:
        values["changed_in"] = None  # Every node reads all counts when it starts.
    for column in _SEALED:
        if table is column.table and values[column.name] is not None:
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
