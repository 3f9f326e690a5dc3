"""Locks on PostgreSQL: for publishing and for imports, each on a table of ours, and row locks.

An advisory lock would be simpler, but has no permissions: every user who can connect to the
database could hold it. `SHARE UPDATE EXCLUSIVE` conflicts with itself and with nothing that a
user without write permission can hold, not even by `PREPARE`. It writes nothing and needs no
transaction id, so it delays neither vacuum nor the counts; waiting is fair and has a timeout.
"""

import contextlib
from collections.abc import Iterator

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from ..errors import WriterBusy
from ..tracing import PART
from .file_lock import BUSY, WaitPolicy

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

_LIMIT = sa.text("SELECT set_config('lock_timeout', :limit, true)")
# An import takes minutes, during which the connection that holds its lock is idle.
_STAY = """
    SELECT set_config(name, '0', true) FROM pg_settings
    WHERE name IN ('idle_in_transaction_session_timeout', 'transaction_timeout')
"""


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
        raise WriterBusy(BUSY) from None


@contextlib.contextmanager
def import_lock(engine: Engine, timeout_s: float) -> Iterator[bool]:
    """Be the only import on all nodes; yields whether it is, after the timeout at the latest."""
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
            yield False
            return
        connection.exec_driver_sql(_STAY)
        try:
            yield True
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
