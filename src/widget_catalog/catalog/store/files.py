"""Stored files: which of them a version refers to, and which are being removed. A version cannot
begin to refer to one of those, so they can be removed without holding a lock.
"""

from collections.abc import Iterable
from typing import NamedTuple, cast

import sqlalchemy as sa
from sqlalchemy import BigInteger, Column, Table, Text
from sqlalchemy.engine import Connection

from ...core.db.bulk import insert_rows
from ...core.db.engine import Transaction
from ...core.db.schema import metadata, versions
from ...core.files.contract import FileKey, Kind
from .staging import list_staged_files

# Files that are being removed: no version may refer to them until that is done.
file_removals = Table(
    "file_removals",
    metadata,
    Column("sha256_hash", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    # Another process may take over after that.
    Column("until", BigInteger, nullable=False),
)

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
    """Which of these stored bundles or style sheets any version refers to."""
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
    return found
