"""Copies an SQLite database consistently, while others write to it, and checks the copy.

The read transaction stays open from the first count to the last page. So SQLite's backup never
restarts, however much is written meanwhile; the write-ahead log grows by that much.
"""

import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import sqlalchemy as sa

from widget_contract.version_files import kind_of

from ..catalog.store.tables import revocations, version_files, versions, widgets
from ..core.data_folder import sync
from ..core.db.damage import row_checksum
from ..core.errors import DataDamaged, StoreUnavailable
from ..core.files.contract import Kind
from ..core.progress import Bar
from .layout import BUNDLES, DATABASE

# 4 MB: small enough to show progress, large enough to have no overhead.
_PAGES_AT_ONCE = 1024
_TIMEOUT_S = 10
# The journal mode in the header of a SQLite file: 1 is a rollback journal, 2 is WAL.
_MODE_AT, _WITHOUT_LOG = 18, b"\x01\x01"
_READ_AND_WRITE, _READ_ONLY, _UNCHANGING = "mode=rw", "mode=ro", "immutable=1"
# Errors and damaged rows that are listed.
_SHOWN = 20
_VERSIONS = (
    "SELECT w.scope, w.name, v.* FROM versions v JOIN widgets w ON w.id = v.widget_id"
    " ORDER BY v.widget_id, v.identity"
)
# SQLite stores booleans as numbers, but the checksum covers true and false. Other numbers are
# damage.
_BOOLEANS = {0: False, 1: True}


class DatabaseFacts(NamedTuple):
    """Properties in which a copy must match its original."""

    schema: str
    rows: dict[str, int]


class StoredName(NamedTuple):
    """A file that a version refers to: its kind, its SHA-256 and its size."""

    kind: Kind
    sha256_hash: str
    size_bytes: int

    @property
    def path(self) -> str:
        """In a backup."""
        return f"{BUNDLES}/{self.sha256_hash[:2]}/{self.sha256_hash[2:]}.{self.kind}"


def copy_database(source: Path, target: Path, bar: Bar) -> DatabaseFacts:
    """Write a consistent copy into a new file, durable when this returns."""
    with _errors_named(source), _opened_original(source, target.parent) as original:
        original.execute("BEGIN")
        facts = _facts_of(original)
        left = int(original.execute("PRAGMA page_count").fetchone()[0])
        # No other process uses the copy, so it needs no locks, which some network file systems
        # lack.
        with _opened(target, "nolock=1") as copy, bar("Copying the database", left) as advance:

            def progress(_status: int, remaining: int, _total: int) -> None:
                nonlocal left
                advance(left - remaining)
                left = remaining

            copy.execute("PRAGMA journal_mode=OFF")
            copy.execute("PRAGMA synchronous=OFF")
            original.backup(copy, pages=_PAGES_AT_ONCE, progress=progress, sleep=0.01)
        original.execute("COMMIT")
    with target.open("r+b") as file:
        file.seek(_MODE_AT)
        file.write(_WITHOUT_LOG)
    sync(target)
    return facts


def check_copy(path: Path, expected: DatabaseFacts) -> list[str]:
    """Errors in a copy's structure, and differences from its original."""
    try:
        with _opened(path, _UNCHANGING) as database:
            found = [str(row[0]) for row in database.execute(f"PRAGMA integrity_check({_SHOWN})")]
            errors = [f"{DATABASE}: {it}" for it in found if it != "ok"]
            broken = database.execute("PRAGMA foreign_key_check").fetchmany(_SHOWN)
            errors += [f"{DATABASE}: a row of {row[0]} refers to nothing." for row in broken]
            facts = _facts_of(database)
    except sqlite3.DatabaseError as error:
        return [f"{DATABASE}: {error}."]
    if facts != expected:
        counts = [
            f"{table} has {facts.rows.get(table, 0):,} rows instead of {rows:,}"
            for table, rows in expected.rows.items()
            if facts.rows.get(table) != rows
        ]
        difference = "; ".join(counts) or "its tables are others"
        errors.append(f"{DATABASE}: it is not what was copied: {difference}.")
    return errors


def check_rows(path: Path) -> list[str]:
    """The first rows of a copy that fail their checksum, which SQLite's integrity check does not
    detect. A database of an older release with other columns is not checked.
    """
    errors: list[str] = []
    try:
        with _opened(path, _UNCHANGING) as database:
            if not all(_has_columns_of(database, it) for it in (widgets, versions, revocations)):
                return []
            for name in _damaged_rows(database):
                if len(errors) == _SHOWN:
                    return [*errors, f"{DATABASE}: There are more damaged rows."]
                what = f"{name} is not what was written: its checksum is wrong."
                errors.append(f"{DATABASE}: {what}")
    except sqlite3.DatabaseError as error:  # Including text that is not UTF-8.
        return [f"{DATABASE}: {error}."]
    return errors


def list_stored_names(path: Path) -> set[StoredName]:
    """Every file that the versions in a copy refer to; the copy may be of any release."""
    with _errors_named(path), _opened(path, _UNCHANGING) as database:
        query = "SELECT 'js', sha256_hash, bundle_size FROM versions WHERE bundle_url IS NULL"
        if "css_size" in _columns(database, "versions"):
            query += (
                " UNION SELECT 'css', css_sha256_hash, css_size FROM versions"
                " WHERE css_size IS NOT NULL"
            )
        found = {StoredName(*row) for row in database.execute(query)}
        if _columns(database, version_files.name):
            query = "SELECT path, sha256_hash, size_bytes FROM version_files"
            for name, *rest in database.execute(query):
                found.add(StoredName(kind_of(name), *rest))
        return found


def _facts_of(connection: sqlite3.Connection) -> DatabaseFacts:
    query = (
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        " ORDER BY name"
    )
    tables = [str(row[0]) for row in connection.execute(query)]
    if "alembic_version" not in tables:
        raise StoreUnavailable("The database holds no catalog.")
    found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    if found is None:
        raise StoreUnavailable("The database does not say of which release it is.")
    rows = {
        name: int(connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0])  # noqa: S608
        for name in tables
    }
    return DatabaseFacts(str(found[0]), rows)


def _damaged_rows(database: sqlite3.Connection) -> Iterator[str]:
    """Rows are checked as read from SQLite, without building widgets: several times as fast, and
    every snapshot is checked.
    """
    booleans = _places_of_booleans(widgets)
    for row in database.execute("SELECT * FROM widgets ORDER BY id"):
        number, *values, written = _with_booleans(row, booleans)
        if _differs(values, written):
            yield f"the widget {values[0]}/{values[1]} (number {number})"
    booleans = [it + 2 for it in _places_of_booleans(versions)]
    for row in database.execute(_VERSIONS):
        scope, name, _, *values, written, details = _with_booleans(row, booleans)
        covered = [scope, name, *values] if details is None else [scope, name, *values, details]
        if _differs(covered, written):
            yield f"version {values[0]} of {scope}/{name}"
    for *values, written in database.execute("SELECT * FROM revocations"):
        if _differs(values, written):
            yield f"the revocation of version {values[1]} of widget {values[0]}"
    if not _has_columns_of(database, version_files):
        return  # Of an older release.
    for *values, written in database.execute("SELECT * FROM version_files"):
        if _differs(values, written):
            yield f"the file {values[2]} of version {values[1]} of widget {values[0]}"


def _differs(values: list[object], written: object) -> bool:
    try:
        return row_checksum(values) != written
    except (TypeError, ValueError, OverflowError):  # A value of a type that is never written.
        return True


def _with_booleans(row: tuple[object, ...], places: list[int]) -> list[object]:
    values = list(row)
    for place in places:
        value = values[place]
        if isinstance(value, int):
            values[place] = _BOOLEANS.get(value, value)
    return values


def _places_of_booleans(table: sa.Table) -> list[int]:
    return [place for place, it in enumerate(table.columns) if isinstance(it.type, sa.Boolean)]


def _has_columns_of(database: sqlite3.Connection, table: sa.Table) -> bool:
    return _columns(database, table.name) == [it.name for it in table.columns]


def _columns(database: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in database.execute(f"PRAGMA table_info({table})")]


@contextlib.contextmanager
def _opened_original(path: Path, scratch: Path) -> Iterator[sqlite3.Connection]:
    """The database, opened for reading; on a read-only disk, too, as a failing one is remounted.

    There SQLite does not read a write-ahead log unless its shared memory file exists. If it does
    not, no process has the database open, and it is copied to `scratch` with its log and opened
    there.
    """
    how = _mode_for(path)
    with contextlib.ExitStack() as stack:
        opened = stack.enter_context(_opened(path, how))
        try:
            opened.execute("PRAGMA schema_version")
        except sqlite3.OperationalError as error:
            if how != _READ_ONLY or error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_CANTOPEN:
                raise
            folder = stack.enter_context(tempfile.TemporaryDirectory(dir=scratch))
            for file in (path, _log_of(path)):
                shutil.copyfile(file, Path(folder) / file.name)
            opened = stack.enter_context(_opened(Path(folder) / path.name, _READ_AND_WRITE))
        yield opened


def _mode_for(path: Path) -> str:
    if os.access(path.parent, os.W_OK):
        return _READ_AND_WRITE
    # Without a WAL file, no process has the database open, and none can open it for writing.
    return _READ_ONLY if _log_of(path).exists() else _UNCHANGING


def _log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _connect(path: Path, how: str) -> sqlite3.Connection:
    address = f"{path.resolve().as_uri()}?{how}"
    return sqlite3.connect(address, uri=True, isolation_level=None, timeout=_TIMEOUT_S)


def _opened(path: Path, how: str) -> contextlib.closing[sqlite3.Connection]:
    return contextlib.closing(_connect(path, how))


@contextlib.contextmanager
def _errors_named(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        if type(error) is sqlite3.DatabaseError:  # The subclasses are for temporary errors.
            raise DataDamaged(
                f"{path} is damaged ({reason}). Run doctor, and restore the last backup."
            ) from error
        raise StoreUnavailable(f"{path} cannot be copied: {reason}.") from error
