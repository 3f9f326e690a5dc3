"""SQLite: opens the file, and detects that its path no longer refers to the opened file.

A removed or replaced file still accepts writes from processes that have it open, and those are
lost. The same applies to its write-ahead log.
"""

import contextlib
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine
from sqlalchemy.pool import PoolProxiedConnection

from ..errors import DataDamaged

_GONE = (
    "The catalog's database file is gone or was replaced while it was in use, so nothing can be "
    "changed. Stop the service, restore the database, run doctor, and start the service again."
)

_Identity = tuple[int, int]

_BUSY_TIMEOUT_MS = 5_000
# The key of a connection's OpenedFile.
_FILE = "file"


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


def sqlite_engine(path: Path, *, is_durable: bool = True, may_create: bool = True) -> Engine:
    """In WAL mode. If not durable, commits survive a killed process, not a power failure."""
    file = OpenedFile(path, may_create=may_create)
    engine = sa.create_engine(
        URL.create("sqlite", database=str(path)), creator=file.connect, hide_parameters=True
    )

    @sa.event.listens_for(engine, "engine_disposed")
    def forget(_engine: Engine) -> None:
        file.closed()

    @sa.event.listens_for(engine, "connect")
    def set_up(connection: Any, record: Any) -> None:
        record.info[_FILE] = file
        connection.isolation_level = None  # Transactions are started below, not by the driver.
        for pragma in (
            f"synchronous={'FULL' if is_durable else 'NORMAL'}",
            f"busy_timeout={_BUSY_TIMEOUT_MS}",
            "foreign_keys=ON",
            "cache_size=-65536",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        options = connection.get_execution_options()
        if not options.get("writing", False):
            connection.exec_driver_sql("BEGIN")
        elif options.get("waits", True):
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            # Other programs lock the database itself, without the writer lock.
            connection.exec_driver_sql("PRAGMA busy_timeout=0")
            try:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            finally:
                connection.exec_driver_sql(f"PRAGMA busy_timeout={_BUSY_TIMEOUT_MS}")

    return engine


def check_file_is_there(connection: Connection | PoolProxiedConnection) -> None:
    """Raises DataDamaged if the open database file is no longer at its path."""
    file: OpenedFile | None = connection.info.get(_FILE)
    if file is not None:
        file.check()


def withdraw(writer: Connection) -> None:
    """Called after a failed commit."""
    with contextlib.suppress(sa.exc.SQLAlchemyError):
        writer.rollback()
    if writer.dialect.name == "sqlite":
        overwrite(writer.connection.driver_connection)


def overwrite(driver: Any) -> None:
    """Make sure that the failed commit has no effect, if possible.

    Its pages may be in the write-ahead log, complete except for the failed fsync. After a crash,
    recovery would find and complete it. The next commit overwrites these pages, so one is made
    here. If that fails too, the outcome is unknown for now.
    """
    with contextlib.suppress(sqlite3.Error):
        driver.rollback()  # Some failed commits leave the transaction open.
        driver.execute("BEGIN IMMEDIATE")
        write_something(lambda text: driver.execute(text).fetchall())
        driver.commit()


def write_something(run: Callable[[str], Sequence[Sequence[Any]]]) -> None:
    # Nothing else uses this number. Updating a row without changing it would write nothing.
    number = run("PRAGMA user_version")[0][0]
    run(f"PRAGMA user_version = {(number + 1) % 2**31}")


def sqlite_reader(path: Path) -> Engine:
    """SQLite opened read-only: neither the file nor its folder is changed."""
    mode = "mode=ro"
    with path.open("rb") as file:
        is_in_wal_mode = file.read(20)[18:] == b"\x02\x02"
    if is_in_wal_mode and not path.with_name(f"{path.name}-wal").exists():
        # No process has it open, and opening it in another mode would create files next to it.
        mode = "immutable=1"
    address = f"{path.absolute().as_uri()}?{mode}"
    engine = sa.create_engine(
        "sqlite://",
        creator=lambda: sqlite3.connect(address, uri=True),
        poolclass=sa.pool.NullPool,
        hide_parameters=True,
    )

    @sa.event.listens_for(engine, "connect")
    def set_up(connection: Any, _record: object) -> None:
        connection.isolation_level = None
        connection.execute(f"PRAGMA busy_timeout={_BUSY_TIMEOUT_MS}")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN")

    return engine
