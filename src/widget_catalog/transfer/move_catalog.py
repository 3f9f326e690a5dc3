"""Migrates a catalog from a data folder to PostgreSQL and S3, or back. The source is not changed.

Each table is copied in one transaction, so it is in the target completely or not at all, and an
interrupted move resumes. At the end everything is compared: the rows of every table, and every
bundle by its hash.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
import sqlalchemy as sa
import xxhash
from sqlalchemy.engine import Connection

from widget_contract.errors import CatalogError

from ..catalog.store.downloads import downloads
from ..catalog.store.files import list_stored_files
from ..core.db.bulk import insert_rows
from ..core.db.engine import Store
from ..core.db.schema import SEALED, channels, leaders, metadata, schema_support
from ..core.db.tables import load_tables
from ..core.errors import StoreUnavailable
from ..core.files.contract import Bundles, FileKey
from ..core.files.hashing import hash_stream
from ..core.jobs.parallel import map_parallel
from ..core.keys import SecretBox
from ..core.progress import Advance, Bar

_AT_ONCE = 1_000
_64_BITS = 0xFFFF_FFFF_FFFF_FFFF
_OF_THE_DATABASE = (channels, leaders, schema_support)
# Alembic's, and those of earlier releases that go when the database is contracted.
_NOT_MOVED = {"alembic_version", "loaded_snapshots", "token_requests"}

_encode = msgspec.msgpack.Encoder().encode

Reseal = Callable[[str], str]
"""What was sealed for one catalog, sealed for the other."""


class Location(NamedTuple):
    """Where a catalog is moved from, or to."""

    store: Store
    bundles: Bundles
    box: SecretBox


class TableDigest(NamedTuple):
    """Equal for tables with equal rows, in any order."""

    rows: int
    digest: int


class CannotMove(CatalogError):
    """The target holds something else, or differs from the source."""


def move_tables(source: Location, target: Location, bar: Bar) -> int:
    """Returns the number of rows."""

    def reseal(sealed: str) -> str:
        secret = source.box.open(sealed)
        # A secret that cannot be decrypted is copied as it is; doctor reports its owner.
        return sealed if secret is None else target.box.seal(secret)

    with source.store.reading() as connection:
        tables = _list_tables(connection)
        wanted = {table.name: _digest(connection, table) for table in tables}
        total = sum(it.rows for it in wanted.values())
        with bar("Copying rows", total) as advance:
            for table in tables:
                with target.store.reading() as there:
                    found = _digest(there, table)
                if found == wanted[table.name]:
                    advance(found.rows)
                    continue
                if found.rows:
                    raise CannotMove(
                        f"The target is not empty: its table {table.name} has {found.rows:,} rows "
                        "that are not those of this catalog. Nothing was changed in it."
                    )
                _copy_table(connection, target.store, table, reseal, advance)
        with target.store.reading() as there:
            for table in tables:
                if _digest(there, table) != wanted[table.name]:
                    raise CannotMove(
                        f"The table {table.name} was changed while it was copied. Stop every "
                        "service of this catalog, empty the target and start again."
                    )
    return total


def move_bundles(source: Location, target: Location, bar: Bar) -> int:
    """Returns the number of files that versions refer to."""
    with source.store.reading() as connection:
        files = {it.key: it.size_bytes for it in list_stored_files(connection)}

    def copy(file: FileKey) -> None:
        is_served = source.bundles.stat(*file) is not None
        if not _has(target.bundles, file, files[file]):
            with source.bundles.open(*file) as content:
                target.bundles.put(content, *file)
            if not _has(target.bundles, file, files[file]):
                raise CannotMove(f"The bundle {file[0]} is not whole in the target.")
        if not is_served:
            target.bundles.withdraw(*file)

    with bar("Copying bundles", len(files)) as advance:
        for _ in map_parallel(copy, sorted(files)):
            advance(1)
    return len(files)


def _list_tables(connection: Connection) -> list[sa.Table]:
    """All tables of the catalog, in dependency order.

    Raises StoreUnavailable if the database has one of a capability that is not installed: what it
    holds would be lost.
    """
    load_tables()
    unknown = set(sa.inspect(connection).get_table_names()) - metadata.tables.keys() - _NOT_MOVED
    if unknown:
        raise StoreUnavailable(
            f"The database has tables that this installation does not know: "
            f"{', '.join(sorted(unknown))}. Nothing was moved."
        )
    return [it for it in metadata.sorted_tables if it not in _OF_THE_DATABASE]


def _digest(connection: Connection, table: sa.Table) -> TableDigest:
    """Excludes values that differ between databases: transaction ids, and encrypted secrets."""
    compared = [
        it for it in table.columns if it is not downloads.c.changed_in and SEALED not in it.info
    ]
    rows, digest = 0, 0
    for row in _stream(connection, compared):
        rows += 1
        digest = (digest + xxhash.xxh3_64_intdigest(_encode(tuple(row)))) & _64_BITS
    return TableDigest(rows, digest)


def _copy_table(
    source: Connection, target: Store, table: sa.Table, reseal: Reseal, advance: Advance
) -> None:
    with target.publishing() as tx:
        for some in _stream(source, list(table.columns)).partitions():
            insert_rows(tx.connection, table, [_adapted(table, row, reseal) for row in some])
            advance(len(some))
        column = table.autoincrement_column
        if column is not None and tx.connection.dialect.name == "postgresql":
            # Advance the sequence past the copied rows.
            largest = sa.select(sa.func.max(column)).scalar_subquery()
            sequence = sa.func.pg_get_serial_sequence(table.name, column.name)
            query = sa.select(sa.func.setval(sequence, largest))
            tx.connection.execute(query.where(sequence.is_not(None), largest > 0))


def _stream(connection: Connection, columns: list[sa.Column[Any]]) -> sa.CursorResult[Any]:
    return connection.execute(sa.select(*columns), execution_options={"yield_per": _AT_ONCE})


def _adapted(table: sa.Table, row: sa.Row[Any], reseal: Reseal) -> tuple[Any, ...]:
    values = dict(zip(table.columns.keys(), row, strict=True))
    if table is downloads:
        values["changed_in"] = None  # Every node reads all counts when it starts.
    for column in table.columns:
        if SEALED in column.info and values[column.name] is not None:
            values[column.name] = reseal(values[column.name])
    return tuple(values.values())


def _has(bundles: Bundles, file: FileKey, size_bytes: int) -> bool:
    try:
        with bundles.open(*file) as content:
            return hash_stream(content) == (file[0], size_bytes)
    except StoreUnavailable:
        raise  # Says nothing about the file.
    except CatalogError:
        return False
