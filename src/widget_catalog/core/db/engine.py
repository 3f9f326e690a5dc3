"""Store: opens, reads and writes the source of truth, on SQLite or PostgreSQL.

There are two kinds of write transactions. `publishing` changes public data, one at a time, so that
sequence numbers become visible in order: on PostgreSQL a lock on a table ensures this. `writing` is
for everything else, and does not wait for publishers there. SQLite has a single writer anyway; a
file lock queues the writers of all processes fairly (SQLite itself polls). Every wait has a
timeout.
"""

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine
from sqlalchemy.pool import PoolProxiedConnection, QueuePool

from .. import clock
from ..clock import Clock
from ..errors import DatabaseDown, DataDamaged
from .connection_watch import ConnectionWatch
from .faults import faults_named
from .opened_file import OpenedFile
from .postgresql import notify
from .prepared import PreparedRecords
from .table_locks import acquire_publishing_lock, limit_waiting
from .transaction import Listener, Prepare, SqliteWrite, Write, prepare_nothing
from .transaction import Transaction as Transaction
from .writer_lock import COMMAND, WaitPolicy, WriterLock

# The name of a connection outside the store: one consistent state of the data.
Snapshot: TypeAlias = Connection

_BUSY_TIMEOUT_MS = 5_000
# The key of a connection's OpenedFile.
_FILE = "file"


class Store:
    """The source of truth, accessed only through `reading()`, `writing()` and `publishing()`."""

    def __init__(
        self,
        engine: Engine,
        lock_file: Path | None = None,
        listener: Listener | None = None,
        now: Clock = clock.now,
        *,
        on_damage: Callable[[DataDamaged], object] | None = None,
        wait_policy: WaitPolicy = COMMAND,
        program: str = "",
        run_folder: Path | None = None,
        check_up: Callable[[], None] = lambda: None,
        check_release: Callable[[], None] = lambda: None,
        blocked_s: Callable[[], float] = lambda: 0.0,
        watch: ConnectionWatch | None = None,
    ) -> None:
        """`program` is the name that waiting processes see; `run_folder` is for locks and
        temporary files. If `check_up` raises, the database is not waited for; if `check_release`
        raises, nothing is written. `blocked_s` is how long publishing has been blocked on
        PostgreSQL, as far as known. `watch` limits how long a write takes.
        """
        self.engine = engine
        self.program = program
        self._on_damage = on_damage
        self._lock_file = lock_file
        self._lock = None if lock_file is None else WriterLock(lock_file, program, wait_policy)
        self._wait_policy = wait_policy
        self.run_folder = run_folder or (lock_file and lock_file.parent)
        self._check_up = check_up
        self._check_release = check_release
        self._blocked_s = blocked_s
        self._watch = watch
        self._listener = listener
        self._now = now
        self._kept: PoolProxiedConnection | None = None

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """One consistent snapshot."""
        with self._faults_named(), self._connected() as connection:
            _check_file(connection)
            with connection.begin():
                yield connection

    def publishing(self, *, waits: bool = True) -> contextlib.AbstractContextManager[Transaction]:
        """For changes to public data, and to the names and stored files these depend on.

        One at a time across all nodes, so sequence numbers become visible in order.
        """
        return self._transaction(waits=waits, is_publishing=True)

    def writing(self, *, waits: bool = True) -> contextlib.AbstractContextManager[Transaction]:
        """For everything else: accounts, sessions, tokens. On PostgreSQL these run concurrently
        and do not wait for publishers; so what a decision depends on must be locked, or be a
        constraint.
        """
        return self._transaction(waits=waits, is_publishing=False)

    @contextlib.contextmanager
    def counting(self, *, is_one_statement: bool = False) -> Iterator[Write]:
        """Only for counts: on SQLite without SQLAlchemy, which takes ten times as long as SQLite
        itself and blocks the worker meanwhile. On PostgreSQL a single statement is a transaction;
        it waits for locked rows without a timeout.
        """
        if self._lock is None and not is_one_statement:
            with self.writing() as tx:
                yield tx
            return
        if self._lock is None:
            self._check_release()
            with self._faults_named(), self._connected() as opened, self._limit(opened):
                once = opened.execution_options(isolation_level="AUTOCOMMIT")
                tx = Transaction(once, self.now_ms(), self._listener, PreparedRecords())
                yield tx
                tx.committed()
            return
        with self._faults_named(), self._lock.held(), self._kept_connection() as connection:
            driver: Any = connection.driver_connection
            driver.execute("BEGIN IMMEDIATE")
            write = SqliteWrite(driver, self.now_ms(), self._listener)
            yield write
            write.committing()
            try:
                driver.commit()
            except BaseException:
                _overwrite(driver)
                raise
            _check_file(connection)
            write.committed()
        if write.is_public and self._listener is not None:
            self._listener.published(self, PreparedRecords())

    @contextlib.contextmanager
    def _kept_connection(self) -> Iterator[PoolProxiedConnection]:
        """Under the lock. Reused by the next write, unless there was an error."""
        connection, self._kept = self._kept or self.engine.raw_connection(), None
        try:
            yield connection
        except BaseException:
            connection.close()  # This also rolls back.
            raise
        self._kept = connection

    def check(self) -> None:
        """Raises StoreUnavailable if the store cannot be read, in particular DataDamaged if it is
        gone.
        """
        with self.reading() as connection:
            connection.execute(sa.text("SELECT 1"))

    def _connected(self) -> Connection:
        self._check_up()
        return self.engine.connect()

    def _limit(self, connection: Connection) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext() if self._watch is None else self._watch.limited(connection)

    @contextlib.contextmanager
    def _transaction(self, *, waits: bool, is_publishing: bool) -> Iterator[Transaction]:
        """Atomic; raises StoreUnavailable if the store is not writable, in particular WriterBusy
        if others write for too long, or at all without `waits`.
        """
        with contextlib.closing(PreparedRecords(self.run_folder)) as prepared:
            with self._begun(prepared, waits=waits, is_publishing=is_publishing) as tx:
                yield tx
            # After the lock is released: applying may take longer than writing.
            if tx.is_public and self._listener is not None:
                self._listener.published(self, prepared)

    @contextlib.contextmanager
    def _begun(
        self, prepared: PreparedRecords, *, waits: bool, is_publishing: bool
    ) -> Iterator[Transaction]:
        turn = contextlib.nullcontext() if self._lock is None else self._lock.held(waits=waits)
        self._check_release()
        with self._faults_named(), turn, self._connected() as connection, self._limit(connection):
            _check_file(connection)
            is_postgresql = connection.dialect.name == "postgresql"
            if is_postgresql:
                # A snapshot taken before waiting for the lock would be outdated.
                connection = connection.execution_options(isolation_level="READ COMMITTED")
            writer = connection.execution_options(writing=True, waits=waits)
            transaction = writer.begin()
            try:
                if is_postgresql and is_publishing:
                    acquire_publishing_lock(writer, self._wait_policy, waits=waits)
                elif is_postgresql:
                    limit_waiting(writer, self._wait_policy, waits=waits)
                tx = Transaction(
                    writer, self.now_ms(), self._listener, prepared, is_publishing=is_publishing
                )
                yield tx
                tx.committing()
            except BaseException:
                transaction.rollback()
                raise
            try:
                transaction.commit()
            except BaseException:
                _withdraw(writer)
                raise
            # Never acknowledge a write to a file that was removed or replaced.
            _check_file(connection)
            tx.committed()
            if is_postgresql and tx.is_public:
                notify(connection)

    def overwrite_failed_commit(self) -> None:
        """Return when an earlier failed commit can no longer take effect."""
        with self.writing() as tx:
            if tx.dialect == "sqlite":
                _write_something(tx.run)

    @property
    def prepare(self) -> Prepare:
        """The listener's function to render a widget, if there is a listener."""
        return prepare_nothing if self._listener is None else self._listener.prepare

    @contextlib.contextmanager
    def _faults_named(self) -> Iterator[None]:
        """Convert database and disk errors to errors of ours, and report damage."""
        try:
            with faults_named():
                yield
        except DataDamaged as fault:
            if self._on_damage is not None:
                self._on_damage(fault)
            raise
        except DatabaseDown:
            # A connection may have been closed because the server takes no writes any more.
            self._check_up()
            raise

    def blocked_s(self) -> float:
        """How long writes have been blocked by another writer, as far as known."""
        with faults_named():
            return self._blocked_s() if self._lock is None else self._lock.blocked_s()

    def writer(self) -> str:
        """The current writer, for the log. Call this only while there is one."""
        return "another process writes" if self._lock is None else self._lock.describe_holder()

    def now_ms(self) -> int:
        """The current time of the store's clock, which timestamps its writes."""
        return clock.to_ms(self._now())

    def connections(self) -> tuple[int, int]:
        """How many connections are in use, and how many are idle."""
        pool = self.engine.pool
        return (pool.checkedout(), pool.checkedin()) if isinstance(pool, QueuePool) else (0, 0)

    def close(self) -> None:
        if self._kept is not None:
            self._kept.close()
            self._kept = None
        self.engine.dispose()
        if self._listener is not None:
            self._listener.close()


def sqlite_engine(path: Path, *, is_durable: bool = True, may_create: bool = True) -> Engine:
    """SQLite in WAL mode. If not durable, commits survive a killed process, but not a power
    failure.
    """
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


def _check_file(connection: Connection | PoolProxiedConnection) -> None:
    """Raises DataDamaged if the open database file is no longer at its path."""
    file: OpenedFile | None = connection.info.get(_FILE)
    if file is not None:
        file.check()


def _withdraw(writer: Connection) -> None:
    """Called after a failed commit."""
    with contextlib.suppress(sa.exc.SQLAlchemyError):
        writer.rollback()
    if writer.dialect.name == "sqlite":
        _overwrite(writer.connection.driver_connection)


def _overwrite(driver: Any) -> None:
    """Make sure that the failed commit has no effect, if possible.

    Its pages may be in the write-ahead log, complete except for the failed fsync. After a crash,
    recovery would find and complete it. The next commit overwrites these pages, so one is made
    here. If that fails too, the outcome is unknown for now.
    """
    with contextlib.suppress(sqlite3.Error):
        driver.rollback()  # Some failed commits leave the transaction open.
        driver.execute("BEGIN IMMEDIATE")
        _write_something(lambda text: driver.execute(text).fetchall())
        driver.commit()


def _write_something(run: Callable[[str], Sequence[Sequence[Any]]]) -> None:
    # Nothing else uses this number. Updating a row without changing it would write nothing.
    number = run("PRAGMA user_version")[0][0]
    run(f"PRAGMA user_version = {(number + 1) % 2**31}")


def sqlite_reader(path: Path) -> Engine:
    """SQLite opened read-only: neither the file nor its folder is changed."""
    mode = "mode=ro"
    if _is_in_wal_mode(path) and not path.with_name(f"{path.name}-wal").exists():
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


def _is_in_wal_mode(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(20)[18:20] == b"\x02\x02"
