"""Opens the SQLite file, and detects that its path no longer refers to the opened file.

A removed or replaced file still accepts writes from processes that have it open, and those are
lost. The same applies to its write-ahead log.
"""

import sqlite3
from pathlib import Path
from typing import Any

from ..errors import DataDamaged

_GONE = (
    "The catalog's database file is gone or was replaced while it was in use, so nothing can be "
    "changed. Stop the service, restore the database, run doctor, and start the service again."
)

_Identity = tuple[int, int]


def connect(path: Path, *, may_create: bool = False, **options: Any) -> sqlite3.Connection:
    """A connection to a file that exists: SQLite alone would create an empty one."""
    mode = "rwc" if may_create else "rw"
    address = f"{path.absolute().as_uri()}?mode={mode}"
    connection: sqlite3.Connection = sqlite3.connect(address, uri=True, **options)
    return connection


class OpenedFile:
    """The files that a reader or a connection pool has open: the database and its log."""

    def __init__(self, path: Path, *, may_create: bool = False) -> None:
        self._path = path
        self._log_path = path.with_name(f"{path.name}-wal")
        self._may_create = may_create
        self._database: _Identity | None = None
        self._log: _Identity | None = None

    def connect(self, **options: Any) -> sqlite3.Connection:
        """Raises DataDamaged if the file is gone or was replaced."""
        self.check()
        may_create = self._may_create and self._database is None
        if not may_create and _identity_of(self._path) is None:
            raise DataDamaged(_GONE)
        # Connections are pooled, so they are used by other threads than the one that opened them.
        connection = connect(self._path, may_create=may_create, check_same_thread=False, **options)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("SELECT 1 FROM sqlite_schema").fetchone()  # Opens the WAL file.
            self.check()
        except BaseException:
            connection.close()
            raise
        self._database = _identity_of(self._path)
        self._log = _identity_of(self._log_path)
        return connection

    def check(self) -> None:
        """Raises DataDamaged if the paths refer to other files, or none. Costs two `stat` calls."""
        if self._database is not None and self._database != _identity_of(self._path):
            raise DataDamaged(_GONE)
        if self._log is not None and self._log != _identity_of(self._log_path):
            raise DataDamaged(_GONE)

    def closed(self) -> None:
        """The last connection is closed: SQLite may have removed the log."""
        self._log = None


def _identity_of(path: Path) -> _Identity | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
