"""Locks on PostgreSQL: the advisory lock for publishing, held for the transaction,
and row locks.
"""

from datetime import UTC

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ..domain.clock import iso
from ..domain.errors import WriterBusy
from .writer_lock import BUSY, WaitPolicy, busy_sentence

_KEY = 0x77696467657473  # "widgets"
_LOCK_NOT_AVAILABLE = "55P03"
_DEADLOCK = "40P01"
_AT_ONCE_S = 0.001

# One round trip: the timeout is in effect when the lock is requested.
_TAKE = sa.text("SELECT set_config('lock_timeout', :limit, true), pg_advisory_xact_lock(:key)")
_LIMIT = sa.text("SELECT set_config('lock_timeout', :limit, true)")
_TRY = sa.text("SELECT pg_try_advisory_xact_lock(:key)")
_HOLDER = sa.text(
    """
    SELECT pid, application_name, xact_start
    FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND granted AND objsubid = 1
        AND (classid::bigint << 32) + objid::bigint = :key
        AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    """
)


def acquire_advisory_lock(writer: Connection, wait_policy: WaitPolicy, *, waits: bool) -> None:
    """Raises WriterBusy if the lock is held too long, or at all without `waits`."""
    if not waits:
        if not writer.execute(_TRY, {"key": _KEY}).scalar():
            raise WriterBusy(BUSY)
        return
    limit = f"{round((wait_policy.wait_s or 0) * 1000)}ms"
    try:
        writer.execute(_TAKE, {"limit": limit, "key": _KEY})
    except sa.exc.OperationalError as error:
        if getattr(error.orig, "sqlstate", None) != _LOCK_NOT_AVAILABLE:
            raise
        raise WriterBusy(
            BUSY if wait_policy.is_service else busy_sentence(_holder(writer))
        ) from None


def limit_waiting(writer: Connection, wait_policy: WaitPolicy, *, waits: bool) -> None:
    """Set the timeout for row locks in this transaction."""
    limit_s = (wait_policy.wait_s or 0) if waits else _AT_ONCE_S
    writer.execute(_LIMIT, {"limit": f"{round(limit_s * 1000)}ms"})


def is_waiting_over(fault: BaseException) -> bool:
    """Whether the database reports a lock timeout or a deadlock."""
    return getattr(fault, "sqlstate", None) in (_LOCK_NOT_AVAILABLE, _DEADLOCK)


def _holder(writer: Connection) -> str:
    """Uses another connection, because a failed transaction accepts no queries."""
    with writer.engine.connect() as connection:
        row = connection.execute(_HOLDER, {"key": _KEY}).first()
    if row is None:
        return "another process held the writer lock until now"
    pid, program, since = row[0], row[1], iso(row[2].astimezone(UTC))
    name = f" ({program})" if program else ""
    return f"process {pid}{name} of the database has held the writer lock since {since}"
