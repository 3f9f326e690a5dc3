"""Copies an SQLite database consistently, while others write to it.

The read transaction stays open from the first count to the last page. So SQLite's backup never
restarts, however much is written meanwhile; the write-ahead log grows by that much.
"""

import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from ..core.errors import StoreUnavailable
from .row_checks import find_damaged_rows

# 4 MB: small enough to show progress, large enough to have no overhead.
_PAGES_AT_ONCE = 1024
_TIMEOUT_S = 10
# The journal mode in the header of a SQLite file: 1 is a rollback journal, 2 is WAL.
_MODE_AT, _WITHOUT_LOG = 18, b"\x01\x01"
_READ_AND_WRITE, _READ_ONLY = "mode=rw", "mode=ro"

Progress = Callable[[int, int], None]
"""Called with how many pages are copied, and of how many."""


class DatabaseFacts(NamedTuple):
    """Properties in which a copy must match its original."""

    schema: str
    rows: dict[str, int]


class StoredName(NamedTuple):
    """A file that a version refers to: its kind, its SHA-256 and its size."""

    kind: str
    sha256_hash: str
    size_bytes: int


def copy_database(source: Path, target: Path, progress: Progress) -> DatabaseFacts:
    """Write a consistent copy into a new file, durable when this returns."""
    with _faults_named(source), _opened_original(source, target.parent) as original:
        original.execute("BEGIN")
        facts = _facts_of(original)
        # No other process uses the copy, so it needs no locks, which some network file systems
        # lack.
        with _opened(target, "nolock=1") as copy:
            copy.execute("PRAGMA journal_mode=OFF")
            copy.execute("PRAGMA synchronous=OFF")
            original.backup(
                copy,
                pages=_PAGES_AT_ONCE,
                progress=lambda _, left, total: progress(total - left, total),
                sleep=0.01,
            )
        original.execute("COMMIT")
    with target.open("r+b") as file:
        file.seek(_MODE_AT)
        file.write(_WITHOUT_LOG)
        file.flush()
        os.fsync(file.fileno())
    return facts


def check_copy(path: Path, expected: DatabaseFacts | None, *, is_thorough: bool) -> list[str]:
    """Errors in a copy's structure, and differences from its original."""
    try:
        with _opened(path, "immutable=1") as database:
            check = "integrity_check" if is_thorough else "quick_check"
            found = [str(row[0]) for row in database.execute(f"PRAGMA {check}(20)")]
            faults = [f"catalog.db: {it}" for it in found if it != "ok"]
            broken = database.execute("PRAGMA foreign_key_check").fetchmany(20)
            faults += [f"catalog.db: a row of {row[0]} refers to nothing." for row in broken]
            facts = _facts_of(database)
    except sqlite3.DatabaseError as error:
        return [f"catalog.db: {error}."]
    if expected is not None and facts != expected:
        counts = [
            f"{table} has {facts.rows.get(table, 0):,} rows instead of {rows:,}"
            for table, rows in expected.rows.items()
            if facts.rows.get(table) != rows
        ]
        difference = "; ".join(counts) or "its tables are others"
        faults.append(f"catalog.db: it is not what was copied: {difference}.")
    return faults


def check_rows(path: Path) -> list[str]:
    """Rows of a copy that fail their checksum, which SQLite's integrity check does not detect."""
    try:
        with _opened(path, "immutable=1") as database:
            return [f"catalog.db: {it}" for it in find_damaged_rows(database)]
    except sqlite3.DatabaseError as error:  # Including text that is not UTF-8.
        return [f"catalog.db: {error}."]


def list_stored_names(path: Path) -> set[StoredName]:
    """Every file that the versions in a copy refer to; the copy may be of any release."""
    with _faults_named(path), _opened(path, "immutable=1") as database:
        columns = {row[1] for row in database.execute("PRAGMA table_info(versions)")}
        query = "SELECT 'js', sha256_hash, bundle_size FROM versions WHERE bundle_url IS NULL"
        if "css_size" in columns:
            query += (
                " UNION SELECT 'css', css_sha256_hash, css_size FROM versions"
                " WHERE css_size IS NOT NULL"
            )
        return {StoredName(*row) for row in database.execute(query)}


def has_change(path: Path, change: tuple[int, int, str, int] | None) -> bool:
    """Whether this change is in the feed of a copy, with the same number, widget,
    scope and time.
    """
    query = "SELECT seq, widget_id, scope, changed_at FROM changes WHERE seq = ?"
    try:
        with _opened(path, "immutable=1") as database:
            return change is None or database.execute(query, change[:1]).fetchone() == change
    except sqlite3.DatabaseError:  # An older release may have no such table.
        return False


class ChangeWatch:
    """Detects writes to a database; a check takes some microseconds."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._inode = 0
        self._connection: sqlite3.Connection | None = None

    def state(self) -> tuple[int, int]:
        """Changes with every commit, and for another file under the same name."""
        with _faults_named(self._path):
            inode = self._path.stat().st_ino
            if self._connection is None or inode != self._inode:
                self.close()
                self._connection = _connect(self._path, _mode_for(self._path))
                self._inode = inode
            (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        return inode, int(version)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _facts_of(connection: sqlite3.Connection) -> DatabaseFacts:
    tables = [
        str(row[0])
        for row in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            " ORDER BY name"
        )
    ]
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


@contextlib.contextmanager
def _opened_original(path: Path, scratch: Path) -> Iterator[sqlite3.Connection]:
    """Also on a read-only disk, as a failing one is remounted.

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
            opened = stack.enter_context(_opened(Path(folder) / path.name))
        yield opened


def _mode_for(path: Path) -> str:
    if os.access(path.parent, os.W_OK):
        return _READ_AND_WRITE
    # Without a WAL file, no process has the database open, and none can open it for writing.
    return _READ_ONLY if _log_of(path).exists() else "immutable=1"


def _log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _connect(path: Path, how: str) -> sqlite3.Connection:
    address = f"{path.resolve().as_uri()}?{how}"
    return sqlite3.connect(address, uri=True, isolation_level=None, timeout=_TIMEOUT_S)


@contextlib.contextmanager
def _opened(path: Path, how: str = _READ_AND_WRITE) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(_connect(path, how)) as connection:
        yield connection


@contextlib.contextmanager
def _faults_named(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        if type(error) is sqlite3.DatabaseError:  # The subclasses are for temporary errors.
            raise StoreUnavailable(
                f"{path} is damaged ({reason}). Run doctor, and restore the last backup."
            ) from error
        raise StoreUnavailable(f"{path} cannot be copied: {reason}.") from error
