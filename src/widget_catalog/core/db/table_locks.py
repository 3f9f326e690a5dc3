"""Locks on PostgreSQL: for publishing and for imports, each on a table of ours, and row locks.

An advisory lock would be simpler, but has no permissions: every user who can connect to the
database could hold it. `SHARE UPDATE EXCLUSIVE` conflicts with itself and with nothing that a
user without write permission can hold, not even by `PREPARE`. It writes nothing and needs no
transaction id, so it delays neither vacuum nor the counts; waiting is fair and has a timeout.
"""

import contextlib
import time
from collections.abc import Iterator, Sequence
from datetime import UTC
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from ..clock import iso
from ..errors import WriterBusy
from ..tracing import PART
from .file_lock import BUSY, WaitPolicy, busy_sentence

if TYPE_CHECKING:
    from .engine import Store

# Vacuum conflicts with the lock, so it is on tables that are vacuumed in milliseconds.
_PUBLISHING = "alembic_version"
_IMPORTING = "imports"

# A new database has no tables; this one is created as Alembic does.
_CREATE = f"""
    CREATE TABLE IF NOT EXISTS {_PUBLISHING} (
        version_num VARCHAR(32) NOT NULL CONSTRAINT {_PUBLISHING}_pkc PRIMARY KEY
    )
"""
_NO_SUCH_TABLE = "42P01"
# If another process has created it at the same time: the table, or its name, exists.
_IS_THERE = ("42P07", "23505")
_LOCK_NOT_AVAILABLE = "55P03"
_DEADLOCK = "40P01"
_AT_ONCE_S = 0.001
_STUCK_AFTER_S = 2.0

_LIMIT = sa.text("SELECT set_config('lock_timeout', :limit, true)")
# An import takes minutes, during which the connection that holds its lock is idle.
_STAY = """
    SELECT set_config(name, '0', true) FROM pg_settings
    WHERE name IN ('idle_in_transaction_session_timeout', 'transaction_timeout')
"""
_HOLDER = """
    SELECT virtualtransaction, pid, application_name, xact_start
    FROM pg_locks LEFT JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'relation' AND granted AND relation = '{table}'::regclass
        AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND mode NOT IN ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock')
"""
FIND_PUBLISHER = _HOLDER.format(table=_PUBLISHING)


class LockHolder(NamedTuple):
    """`transaction` identifies it among all that are running."""

    transaction: str
    sentence: str


def acquire_publishing_lock(writer: Connection, wait_policy: WaitPolicy, *, waits: bool) -> None:
    """Raises WriterBusy if the lock is held too long, or at all without `waits`."""
    try:
        try:
            _lock(writer, _PUBLISHING, wait_policy.wait_s, waits=waits)
        except sa.exc.ProgrammingError as error:
            if _code_of(error) != _NO_SUCH_TABLE:
                raise
            writer.exec_driver_sql("ROLLBACK")  # The next statement begins a transaction.
            _create_table(writer.engine)
            _lock(writer, _PUBLISHING, wait_policy.wait_s, waits=waits)
    except sa.exc.OperationalError as error:
        if _code_of(error) != _LOCK_NOT_AVAILABLE:
            raise
        raise WriterBusy(
            BUSY
            if wait_policy.is_service or not waits
            else busy_sentence(_describe_holder(writer.engine, _PUBLISHING))
        ) from None


@contextlib.contextmanager
def import_lock(engine: Engine, timeout_s: float) -> Iterator[str | None]:
    """Be the only import on all nodes; yields who is, if another one still is after the timeout."""
    # A snapshot, which other isolation levels would keep, delays vacuum.
    options = {"isolation_level": "READ COMMITTED"}
    with engine.connect().execution_options(**options) as connection:
        transaction = connection.begin()
        try:
            _lock(connection, _IMPORTING, timeout_s, waits=timeout_s > 0)
        except sa.exc.OperationalError as error:
            transaction.rollback()
            if _code_of(error) != _LOCK_NOT_AVAILABLE:
                raise
            yield _describe_holder(engine, _IMPORTING)
            return
        connection.exec_driver_sql(_STAY)
        try:
            yield None
        finally:
            # Closing the connection releases the lock, even if it has failed.
            connection.invalidate()


def limit_waiting(writer: Connection, wait_policy: WaitPolicy, *, waits: bool) -> None:
    """Set the timeout for row locks in this transaction."""
    limit_s = (wait_policy.wait_s or 0) if waits else _AT_ONCE_S
    writer.execute(_LIMIT, {"limit": _as_limit(limit_s)})


def is_waiting_over(error: BaseException) -> bool:
    """Whether the database reports a lock timeout or a deadlock."""
    return getattr(error, "sqlstate", None) in (_LOCK_NOT_AVAILABLE, _DEADLOCK)


def holder_in(rows: Sequence[Sequence[Any]], lock: str = "writer lock") -> LockHolder | None:
    """`rows` are those of `FIND_PUBLISHER`."""
    for transaction, pid, program, since in rows:
        name = f" ({program})" if program else ""
        who = "a prepared transaction" if pid is None else f"process {pid}{name}"
        # PostgreSQL does not show other users when a transaction began.
        when = "" if since is None else f" since {iso(since.astimezone(UTC))}"
        return LockHolder(transaction, f"{who} of the database has held the {lock}{when}")
    return None


def find_stuck_publisher(store: "Store") -> list[str]:
    """A message if a transaction holds the lock for publishing at two looks; none on SQLite."""
    if store.engine.dialect.name != "postgresql":
        return []
    first = _find_holder(store.engine, _PUBLISHING)
    if first is None:
        return []
    time.sleep(_STUCK_AFTER_S)
    second = _find_holder(store.engine, _PUBLISHING)
    if second is None or second.transaction != first.transaction:
        return []
    return [busy_sentence(second.sentence)]


def _lock(connection: Connection, table: str, wait_s: float | None, *, waits: bool) -> None:
    """Both statements in one round trip."""
    limit = f"SET LOCAL lock_timeout = '{_as_limit(wait_s)}'; " if waits else ""
    at_once = "" if waits else " NOWAIT"
    connection.exec_driver_sql(
        f"{limit}LOCK TABLE {table} IN SHARE UPDATE EXCLUSIVE MODE{at_once}",
        execution_options={PART: "lock"},
    )


def _as_limit(wait_s: float | None) -> str:
    """0 is no limit."""
    return f"{round((wait_s or 0) * 1000)}ms"


def _create_table(engine: Engine) -> None:
    try:
        with engine.begin() as connection:
            connection.exec_driver_sql(_CREATE)
    except sa.exc.DBAPIError as error:
        if _code_of(error) not in _IS_THERE:
            raise


def _code_of(error: sa.exc.DBAPIError) -> str | None:
    return getattr(error.orig, "sqlstate", None)


def _describe_holder(engine: Engine, table: str) -> str:
    holder = _find_holder(engine, table)
    return "another process held the lock until now" if holder is None else holder.sentence


def _find_holder(engine: Engine, table: str) -> LockHolder | None:
    """Uses another connection, because a failed transaction accepts no queries."""
    with engine.connect() as connection:
        rows = connection.exec_driver_sql(_HOLDER.format(table=table)).all()
    return holder_in(rows, "import lock" if table == _IMPORTING else "writer lock")
