"""Store: opens, reads and writes the source of truth, on SQLite or PostgreSQL.

There are two kinds of write transactions. `publishing` changes public data, one at a time, so that
sequence numbers become visible in order: on PostgreSQL a lock on a table ensures this. `writing` is
for everything else, and does not wait for publishers there. SQLite has a single writer anyway; a
file lock queues the writers of all processes fairly (SQLite itself polls). Every wait has a
timeout.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection, QueuePool

from .. import clock
from ..clock import Clock
from ..errors import (
    DatabaseDown,
    DataDamaged,
)
from ..tracing import PART, part
from .file_lock import COMMAND, WaitPolicy, WriterLock
from .named_errors import errors_named
from .postgresql import notify
from .prepared import PreparedRecords
from .sqlite import check_file_is_there, overwrite, withdraw, write_something
from .table_locks import acquire_publishing_lock, limit_waiting
from .transaction import Prepare, SqliteWrite, Write, WriteListener, prepare_nothing
from .transaction import Transaction as Transaction

# The name of a connection outside the store: one consistent state of the data.
Snapshot: TypeAlias = Connection
# Among the arguments of the events of a statement.
_EXECUTION = 4
_READER_CACHE_KB = 2_048


class StoreListener(WriteListener, Protocol):
    """Observes every write to a store. The read model implements it."""

    def published(self, store: "Store", prepared: PreparedRecords) -> None:
        """The committed changes must become visible. Other writers may already be active."""

    def close(self) -> None:
        """Close open resources; they are opened again when needed."""


class Store:
    """The source of truth, accessed only through `reading()`, `writing()` and `publishing()`."""

    def __init__(
        self,
        engine: Engine,
        lock_file: Path | None = None,
        listener: StoreListener | None = None,
        now: Clock = clock.now,
        *,
        on_damage: Callable[[DataDamaged], object] | None = None,
        wait_policy: WaitPolicy = COMMAND,
        program: str = "",
        run_folder: Path | None = None,
        check_up: Callable[[], None] = lambda: None,
        check_release: Callable[[], None] = lambda: None,
    ) -> None:
        """`program` is the name that waiting processes see; `run_folder` is for locks and
        temporary files. If `check_up` raises, the database is not waited for; if `check_release`
        raises, nothing is written.
        """
        self.engine = engine
        _measure_statements(engine)
        self.program = program
        self._on_damage = on_damage
        self._lock_file = lock_file
        self._lock = None if lock_file is None else WriterLock(lock_file, program, wait_policy)
        self._wait_policy = wait_policy
        self.run_folder = run_folder or (lock_file and lock_file.parent)
        self._check_up = check_up
        self._check_release = check_release
        self._listener = listener
        self._now = now
        self._kept: PoolProxiedConnection | None = None
        self._readers: list[PoolProxiedConnection] = []

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """One consistent snapshot."""
        with part("reading"), self._errors_named(), self._connected() as connection:
            check_file_is_there(connection)
            with connection.begin():
                yield connection

    def read_rows(self, statement: sa.Select[Any], **values: int) -> Sequence[Sequence[Any]]:
        """The rows of one statement that public pages need. If the store `reads_at_once`, without
        SQLAlchemy, which takes ten times as long as SQLite itself, and without waiting: raises
        StoreUnavailable if another program has locked the whole database.
        """
        if not self.reads_at_once:
            with self.reading() as connection:
                return connection.execute(statement, values).all()
        text, names = _for_driver(statement)
        with part("reading"):
            opened = self._readers.pop() if self._readers else self._open_reader()
            driver: Any = opened.driver_connection
            try:
                rows = list(driver.execute(text, [values[it] for it in names]))
            except BaseException:
                opened.invalidate()
                with self._errors_named():
                    raise
            self._readers.append(opened)
            return rows

    @property
    def reads_at_once(self) -> bool:
        """Whether `read_rows` takes some microseconds, so that it needs no thread: SQLite's file is
        beside the replica, and its readers wait for no writer.
        """
        return self._lock is not None

    def _open_reader(self) -> PoolProxiedConnection:
        with self._errors_named():
            opened = self.engine.raw_connection()
            driver: Any = opened.driver_connection
            for pragma in ("busy_timeout=0", f"cache_size=-{_READER_CACHE_KB}"):
                driver.execute(f"PRAGMA {pragma}")
            return opened

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
            with self._errors_named(), self._connected() as opened:
                once = opened.execution_options(isolation_level="AUTOCOMMIT")
                tx = Transaction(once, self.now_ms(), self._listener, PreparedRecords())
                yield tx
                tx.committed()
            return
        with self._errors_named(), self._lock.held(), self._kept_connection() as connection:
            driver: Any = connection.driver_connection
            driver.execute("BEGIN IMMEDIATE")
            write = SqliteWrite(driver, self.now_ms(), self._listener)
            yield write
            write.committing()
            try:
                driver.commit()
            except BaseException:
                overwrite(driver)
                raise
            check_file_is_there(connection)
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
        """Raises StoreUnavailable if the store cannot be read; DataDamaged, if it is gone."""
        with self.reading() as connection:
            connection.execute(sa.text("SELECT 1"))

    def _connected(self) -> Connection:
        self._check_up()
        return self.engine.connect()

    @contextlib.contextmanager
    def _transaction(self, *, waits: bool, is_publishing: bool) -> Iterator[Transaction]:
        """Atomic; raises StoreUnavailable if the store is not writable, in particular WriterBusy
        if others write for too long, or at all without `waits`.
        """
        with closing(PreparedRecords(self.run_folder)) as prepared:
            with (
                part("transaction"),
                self._begun(prepared, waits=waits, is_publishing=is_publishing) as tx,
            ):
                yield tx
            # After the lock is released: applying may take longer than writing.
            if tx.is_public and self._listener is not None:
                with part("apply"):
                    self._listener.published(self, prepared)

    @contextlib.contextmanager
    def _begun(
        self, prepared: PreparedRecords, *, waits: bool, is_publishing: bool
    ) -> Iterator[Transaction]:
        turn = contextlib.nullcontext() if self._lock is None else self._lock.held(waits=waits)
        self._check_release()
        with self._errors_named(), turn, self._connected() as connection:
            check_file_is_there(connection)
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
                with part("commit"):
                    transaction.commit()
            except BaseException:
                withdraw(writer)
                raise
            # Never acknowledge a write to a file that was removed or replaced.
            check_file_is_there(connection)
            tx.committed()
            if is_postgresql and tx.wakes_nodes:
                notify(connection)

    def overwrite_failed_commit(self) -> None:
        """Return when an earlier failed commit can no longer take effect."""
        with self.writing() as tx:
            if tx.dialect == "sqlite":
                write_something(tx.run)

    @property
    def prepare(self) -> Prepare:
        """The listener's function to render a widget, if there is a listener."""
        return prepare_nothing if self._listener is None else self._listener.prepare

    @contextlib.contextmanager
    def _errors_named(self) -> Iterator[None]:
        """Convert database and disk errors to errors of ours, and report damage."""
        try:
            with errors_named():
                yield
        except DataDamaged as error:
            if self._on_damage is not None:
                self._on_damage(error)
            raise
        except DatabaseDown:
            # A connection may have been closed because the server takes no writes any more.
            self._check_up()
            raise

    def blocked_s(self) -> float:
        """How long writes have been blocked by another writer, as far as known on SQLite."""
        with errors_named():
            return 0.0 if self._lock is None else self._lock.blocked_s()

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
        while self._readers:
            self._readers.pop().invalidate()
        pool = self.engine.pool
        self.engine.dispose()
        # A thread may still use a connection: the old pool would keep it when it is returned.
        sa.event.listen(pool, "checkin", _close_returned)
        pool.dispose()
        if self._listener is not None:
            self._listener.close()


def _close_returned(_connection: object, record: ConnectionPoolEntry) -> None:
    record.invalidate()


@cache
def _for_driver(statement: sa.Select[Any]) -> tuple[str, Sequence[str]]:
    """The SQL text for SQLite's driver, and the names of its parameters in order."""
    compiled = statement.compile(dialect=sqlite.dialect(paramstyle="qmark"))
    return str(compiled), compiled.positiontup or ()


def _measure_statements(engine: Engine) -> None:
    """Each statement is a part of the request it belongs to; `PART` in its options names it."""

    @sa.event.listens_for(engine, "before_cursor_execute")
    def begin(*given: Any) -> None:
        execution = given[_EXECUTION]
        execution.measured = part(execution.execution_options.get(PART, "statement"))
        execution.measured.__enter__()

    @sa.event.listens_for(engine, "after_cursor_execute")
    def end(*given: Any) -> None:
        given[_EXECUTION].measured.__exit__(None, None, None)

    @sa.event.listens_for(engine, "handle_error")
    def fail(error: Any) -> None:
        if measured := getattr(error.execution_context, "measured", None):
            measured.__exit__(None, None, None)
