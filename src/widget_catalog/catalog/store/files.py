"""Stored files: which of them a version refers to; removing those that nothing refers to, and
withdrawing those of revoked versions.

An object store may take seconds to remove a batch, and longer if it fails. So no lock is held
meanwhile: a transaction marks the files, then they are removed, then another one unmarks them. As
long as a file is marked, no version can begin to refer to it. Marks of a killed process expire, and
the files are removed again.
"""

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple, cast

import sqlalchemy as sa
from sqlalchemy import BigInteger, Column, Table, Text
from sqlalchemy.engine import Connection

from ...core.db.bulk import insert_rows
from ...core.db.engine import Snapshot, Store, Transaction
from ...core.db.schema import metadata
from ...core.files.contract import Bundles, FileKey, Kind
from ...core.files.verified import map_parallel
from .attached_files import find_attached
from .feed import Change
from .revocations import is_needed, list_revoked_files
from .staging import list_staged_files
from .tables import versions

# Files that are being removed: no version may refer to them until that is done.
file_removals = Table(
    "file_removals",
    metadata,
    Column("sha256_hash", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    # Another process may take over after that.
    Column("until", BigInteger, nullable=False),
)

_BATCH = 100
# Longer than a batch takes even if every request to an object store times out.
_LEASE_MS = 15 * 60_000
# SQLite allows at most 32,766 parameters per statement.
_HASHES_PER_QUERY = 500


class Marked(NamedTuple):
    """Files that only the process that has marked them removes."""

    files: list[FileKey]
    until: int


def mark_for_removal(tx: Transaction, files: Iterable[FileKey]) -> Marked:
    """Those of these files that nothing refers to, and that no other process is removing. In
    `Store.publishing`: nothing can begin to refer to them meanwhile.
    """
    connection, until = tx.connection, tx.at_ms + _LEASE_MS
    unused = set(files) - list_marked(connection, after_ms=tx.at_ms)
    unused -= find_referred_to(connection, unused)
    if unused:
        unused -= {it.key for it in list_staged_files(connection)}
    _delete(tx, unused)
    insert_rows(connection, file_removals, [(*it, until) for it in sorted(unused)])
    return Marked(sorted(unused), until)


def unmark(tx: Transaction, marked: Marked) -> None:
    _delete(tx, marked.files, file_removals.c.until == marked.until)


def list_marked(connection: Connection, after_ms: int = 0) -> set[FileKey]:
    """All marked files, abandoned or not; or those whose mark is valid after this time."""
    query = sa.select(file_removals.c.sha256_hash, file_removals.c.kind)
    rows = connection.execute(query.where(file_removals.c.until > after_ms))
    return {cast(FileKey, tuple(row)) for row in rows}


def _delete(tx: Transaction, files: Iterable[FileKey], *which: sa.ColumnElement[bool]) -> None:
    key = sa.tuple_(file_removals.c.sha256_hash, file_removals.c.kind)
    tx.connection.execute(sa.delete(file_removals).where(key.in_(list(files)), *which))


def find_referred_to(connection: Connection, files: Iterable[FileKey]) -> set[FileKey]:
    """Which of these stored files any version refers to."""
    found: set[FileKey] = set()
    kinds: tuple[Kind, ...] = ("js", "css")
    keys = list(files)
    for kind in kinds:
        column = versions.c.css_sha256_hash if kind == "css" else versions.c.sha256_hash
        hashes = [sha256_hash for sha256_hash, its_kind in keys if its_kind == kind]
        for start in range(0, len(hashes), _HASHES_PER_QUERY):
            some = hashes[start : start + _HASHES_PER_QUERY]
            query = sa.select(column).distinct().where(column.in_(some))
            if kind == "js":
                query = query.where(versions.c.bundle_url.is_(None))
            found |= {(it, kind) for it in connection.execute(query).scalars()}
    attached = {it for it in keys if it[1] not in kinds}
    return found | find_attached(connection, attached)


def list_files_of(connection: Connection, changed: Collection[Change]) -> dict[FileKey, int]:
    """The modules and style sheets of the changed versions that are stored here, with their
    sizes.
    """
    whole = {it.widget_id for it in changed if it.version is None}
    named = {(it.widget_id, it.version) for it in changed}
    table = versions.c
    query = (
        sa.select(table.widget_id, table.version, table.bundle_url)
        .add_columns(table.sha256_hash, table.bundle_size, table.css_sha256_hash, table.css_size)
        .where(table.widget_id.in_({it.widget_id for it in changed}))
        .where(table.bundle_url.is_(None) | table.css_size.is_not(None))
    )
    files: dict[FileKey, int] = {}
    for row in connection.execute(query):
        if row.widget_id in whole or (row.widget_id, row.version) in named:
            if row.bundle_url is None:
                files[row.sha256_hash, "js"] = row.bundle_size
            if row.css_size is not None:
                files[row.css_sha256_hash, "css"] = row.css_size
    return files


def remove_unused(
    store: Store,
    bundles: Bundles,
    files: Collection[FileKey],
    remove: Callable[[FileKey], object] | None = None,
) -> None:
    """Remove those of these files that nothing refers to. `remove` may do something else with
    them.
    """
    every = sorted(files)
    for start in range(0, len(every), _BATCH):
        with store.publishing() as tx:
            marked = mark_for_removal(tx, every[start : start + _BATCH])
        if not marked.files:
            continue
        for _ in map_parallel(remove or (lambda it: bundles.remove(*it)), marked.files):
            pass
        with store.publishing() as tx:
            unmark(tx, marked)


def are_present(connection: Snapshot, bundles: Bundles, files: Collection[FileKey]) -> bool:
    """Whether all these files are stored and stay: a version may refer to them. In
    `Store.publishing`, as with everything that adds versions.
    """
    if list_marked(connection) & set(files):
        return False
    return all(map_parallel(lambda it: bundles.stat(*it) is not None, files))


def withdraw_files(store: Store, bundles: Bundles) -> None:
    """Move the files of revoked versions that are still in the served folder."""
    with store.reading() as connection:
        files = list(list_revoked_files(connection))
    served = [it for it in files if bundles.stat(*it.key)]
    if not served:
        return
    with store.publishing() as tx:
        revoked = {it.key for it in list_revoked_files(tx.connection)}
        for file in served:
            if file.key in revoked and not is_needed(tx.connection, file):
                bundles.withdraw(*file.key)
