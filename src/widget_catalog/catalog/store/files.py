"""Stored files: which of them a version refers to; removing those that nothing refers to, and
withdrawing those of revoked versions.

An object store may take seconds to remove a batch, and longer if it fails. So no lock is held
meanwhile: a transaction marks the files, then they are removed, then another one unmarks them. As
long as a file is marked, no version can begin to refer to it. Marks of a killed process expire, and
the files are removed again.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, NamedTuple, cast

import sqlalchemy as sa
from sqlalchemy import BigInteger, Column, Table, Text
from sqlalchemy.engine import Connection

from widget_contract.version_files import BUNDLE, STYLE, kind_of

from ...core.db.bulk import insert_rows
from ...core.db.engine import Snapshot, Store, Transaction
from ...core.db.schema import metadata
from ...core.files.contract import Bundles, FileKey, Kind
from ...core.jobs.parallel import map_parallel
from .feed import StoredChange
from .revocations import IS_REVOKED
from .rows import StoredFile
from .staging import list_staged_files
from .tables import revocations, version_files, versions, widgets

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


class _Source(NamedTuple):
    """Where versions refer to files: a query of version, path, hash and size; and the hash."""

    query: sa.Select[Any]
    sha256_hash: sa.ColumnElement[str]


def _source(
    path: sa.ColumnElement[str],
    sha256_hash: sa.ColumnElement[str],
    size_bytes: sa.ColumnElement[int],
    condition: sa.ColumnElement[bool],
) -> _Source:
    columns = (path.label("path"), sha256_hash.label("hash"), size_bytes.label("size"))
    query = sa.select(versions.c.widget_id, versions.c.version, *columns)
    return _Source(query.where(condition), sha256_hash)


_MODULES = _source(
    sa.literal(BUNDLE),
    versions.c.sha256_hash,
    versions.c.bundle_size,
    versions.c.bundle_url.is_(None),
)
_STYLES = _source(
    sa.literal(STYLE),
    versions.c.css_sha256_hash,
    versions.c.css_size,
    versions.c.css_size.is_not(None),
)
_ATTACHED = _source(
    version_files.c.path,
    version_files.c.sha256_hash,
    version_files.c.size_bytes,
    (versions.c.widget_id == version_files.c.widget_id)
    & (versions.c.identity == version_files.c.identity),
)


_SOURCES = (_MODULES, _STYLES, _ATTACHED)


def _source_of(kind: Kind) -> _Source:
    return {"js": _MODULES, "css": _STYLES}.get(kind, _ATTACHED)


def list_stored_files(connection: Connection) -> Iterator[StoredFile]:
    """The stored files of every version.

    Including those of an accepted import, before its versions are written.
    """
    for source in _SOURCES:
        yield from _list_files(connection, source.query)
    yield from list_staged_files(connection)


def list_revoked_files(connection: Connection) -> Iterator[StoredFile]:
    """The files of revoked versions that are stored here, withdrawn or not."""
    # There are few: without the first condition, all versions would be read.
    is_concerned = versions.c.widget_id.in_(sa.select(revocations.c.widget_id))
    for source in _SOURCES:
        yield from _list_files(connection, source.query.where(is_concerned, IS_REVOKED))


def _list_files(connection: Connection, query: sa.Select[Any]) -> Iterator[StoredFile]:
    whose = query.add_columns(widgets.c.scope, widgets.c.name)
    whose = whose.where(widgets.c.id == versions.c.widget_id)
    for row in connection.execute(whose, execution_options={"yield_per": 1000}):
        yield StoredFile(row.scope, row.name, row.version, kind_of(row.path), row.hash, row.size)


def find_referred_to(
    connection: Connection, files: Collection[FileKey], *, only_served: bool = False
) -> set[FileKey]:
    """Which of these stored files any version refers to; or any that is not revoked."""
    found: set[FileKey] = set()
    for source in _SOURCES:
        hashes = sorted({it for it, kind in files if _source_of(kind) is source})
        query = source.query.with_only_columns(*source.query.selected_columns["hash", "path"])
        if only_served:
            query = query.where(~IS_REVOKED)
        for start in range(0, len(hashes), _HASHES_PER_QUERY):
            some = source.sha256_hash.in_(hashes[start : start + _HASHES_PER_QUERY])
            rows = connection.execute(query.where(some).distinct())
            found |= {(it.hash, kind_of(it.path)) for it in rows}
    return found & set(files)


def list_files_of(connection: Connection, changed: Collection[StoredChange]) -> dict[FileKey, int]:
    """The modules and style sheets of the changed versions that are stored here, with their
    sizes.
    """
    whole = {it.widget_id for it in changed if it.version is None}
    named = {(it.widget_id, it.version) for it in changed}
    files: dict[FileKey, int] = {}
    for source in (_MODULES, _STYLES):
        which = versions.c.widget_id.in_({it.widget_id for it in changed})
        for row in connection.execute(source.query.where(which)):
            if row.widget_id in whole or (row.widget_id, row.version) in named:
                files[row.hash, kind_of(row.path)] = row.size
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
            if file.key in revoked and not is_needed(tx.connection, file.key):
                bundles.withdraw(*file.key)


def is_needed(connection: Connection, file: FileKey) -> bool:
    """Whether a version that is not revoked has this file."""
    return bool(find_referred_to(connection, {file}, only_served=True))
