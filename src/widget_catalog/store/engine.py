"""Store: how the truth is opened, read and written, on SQLite or PostgreSQL.

One writer at a time. On SQLite a file lock queues the writers of all processes fairly
(SQLite's own waiting is polling); on PostgreSQL an advisory lock does, so that the feed's
numbers become visible in their order.
"""

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine

from ..domain import clock
from ..domain.clock import Clock
from ..domain.errors import DataDamaged, StoreUnavailable
from ..domain.widgets import Widget
from .damage import is_damage
from .rows import Draw, Row

# What others than the store call a connection: one consistent state, to be passed on.
Snapshot: TypeAlias = Connection

_POSTGRESQL_WRITER_LOCK = 0x77696467657473  # "widgets"


class Listener(Protocol):
    """Hears of every write. With SQLite the read model is one, and so is written along."""

    @property
    def draw(self) -> Draw:
        """Draws a widget: to be kept with it, and made from nothing else."""

    def saved(self, tx: "Transaction", pictures: Sequence[tuple[int, Row]]) -> None:
        """Widgets with these numbers were saved; this is still inside their transaction."""

    def committed(self, tx: "Transaction") -> None:
        """The transaction is committed, and the next writer has not begun."""


class Transaction:
    """One write: a connection, the time, and what it has done so far."""

    def __init__(
        self,
        connection: Connection,
        at_ms: int,
        listener: Listener | None,
        undo: contextlib.ExitStack,
    ) -> None:
        self.connection = connection
        self.at_ms = at_ms
        # Takes back what was done outside the database if the transaction fails. The next
        # writer has not begun then. A commit that was tried is undone only once it is certain
        # that nothing of it is kept.
        self.undo = undo
        self.latest_seq: int | None = None
        self.counts: dict[int, int] = {}
        self._listener = listener

    @property
    def draw(self) -> Draw:
        return _draw_nothing if self._listener is None else self._listener.draw

    def saved(self, pictures: Sequence[tuple[int, Row]], latest_seq: int) -> None:
        """Widgets were saved, and the feed ends here now. `pictures` were drawn by `draw`."""
        self.latest_seq = latest_seq
        if self._listener is not None:
            self._listener.saved(self, pictures)

    def committed(self) -> None:
        if self._listener is not None:
            self._listener.committed(self)


def _draw_nothing(_widget: Widget) -> Row:
    return ()


class Store:
    """The truth. `reading()` and `writing()` are the only ways in."""

    def __init__(
        self,
        engine: Engine,
        lock_file: Path | None = None,
        listener: Listener | None = None,
        now: Clock = clock.now,
        on_damage: Callable[[DataDamaged], object] | None = None,
    ) -> None:
        self.engine = engine
        self._on_damage = on_damage
        self._lock_file = lock_file
        self._listener = listener
        self._now = now

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """One consistent snapshot."""
        with self._faults_named(), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[Transaction]:
        """All or nothing; raises StoreUnavailable if the store cannot be written now."""
        with self._faults_named(), self._writer_lock(), self.engine.connect() as connection:
            is_postgresql = connection.dialect.name == "postgresql"
            if is_postgresql:
                # A snapshot taken before the wait for the lock would be an old one.
                connection = connection.execution_options(isolation_level="READ COMMITTED")
            writer = connection.execution_options(writing=True)
            with contextlib.ExitStack() as undo:
                transaction = writer.begin()
                try:
                    if is_postgresql:
                        writer.execute(
                            sa.select(sa.func.pg_advisory_xact_lock(_POSTGRESQL_WRITER_LOCK))
                        )
                    tx = Transaction(writer, self.now_ms(), self._listener, undo)
                    yield tx
                except BaseException:
                    transaction.rollback()
                    raise
                steps_back = undo.pop_all()
                try:
                    transaction.commit()
                except BaseException:
                    if _is_discarded(writer):
                        steps_back.close()
                    raise
            tx.committed()

    @contextlib.contextmanager
    def _faults_named(self) -> Iterator[None]:
        """Tell database and disk faults as errors of ours; and damage to whoever must know."""
        try:
            with _faults_named():
                yield
        except DataDamaged as fault:
            if self._on_damage is not None:
                self._on_damage(fault)
            raise

    def now_ms(self) -> int:
        """What time it is for this store: the clock that its writes are stamped by."""
        return clock.to_ms(self._now())

    def close(self) -> None:
        self.engine.dispose()

    @contextlib.contextmanager
    def _writer_lock(self) -> Iterator[None]:
        if self._lock_file is None:
            yield
            return
        descriptor = os.open(self._lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)  # Waits as long as it takes, in the kernel.
            yield
        finally:
            os.close(descriptor)


def sqlite_engine(path: Path, *, is_durable: bool = True) -> Engine:
    """SQLite in WAL mode. Not durable: a commit survives a killed process, not a power cut."""
    engine = sa.create_engine(URL.create("sqlite", database=str(path)))

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # Transactions are begun below, not by the driver.
        for pragma in (
            "journal_mode=WAL",
            f"synchronous={'FULL' if is_durable else 'NORMAL'}",
            "busy_timeout=10000",
            "foreign_keys=ON",
            "cache_size=-65536",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        is_writing = connection.get_execution_options().get("writing", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writing else "BEGIN")

    return engine


def _is_discarded(writer: Connection) -> bool:
    """Whether nothing can come of the commit that has just failed.

    Its pages may be in the write-ahead log, complete but for the fsync that failed. After a
    crash, recovery would find them there and complete the commit. The next commit overwrites
    them, so one is made here. If that fails too, nobody can tell yet what will be true.
    """
    if writer.dialect.name != "sqlite":
        return False
    try:
        writer.rollback()
        writer.connection.rollback()  # The driver's own: some failed commits stay open there.
        with writer.begin():
            # A number that only this uses. To write a row as it is would write nothing.
            number = writer.exec_driver_sql("PRAGMA user_version").scalar_one()
            writer.exec_driver_sql(f"PRAGMA user_version = {(number + 1) % 2**31}")
    except sa.exc.SQLAlchemyError:
        return False
    return True


def postgresql_engine(url: str) -> Engine:
    address = sa.make_url(url).set(drivername="postgresql+psycopg")
    return sa.create_engine(address, pool_pre_ping=True, isolation_level="REPEATABLE READ")


@contextlib.contextmanager
def _faults_named() -> Iterator[None]:
    """Tell database and disk faults as one error of ours."""
    try:
        yield
    except sa.exc.DBAPIError as error:
        raise _named(error.orig or error) from error
    except (sqlite3.Error, OSError) as error:  # The read model writes along, past SQLAlchemy.
        raise _named(error) from error


def _named(fault: BaseException) -> StoreUnavailable:
    reason = (isinstance(fault, OSError) and fault.strerror) or str(fault).strip()
    if is_damage(fault):
        return DataDamaged(
            f"The catalog's database is damaged ({reason}). Run doctor: it repairs what can be "
            "made anew, and says if a backup must be restored."
        )
    return StoreUnavailable(
        f"The catalog's database cannot be used just now ({reason}). Try again later."
    )
