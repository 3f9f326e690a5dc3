"""Leader election: one process does a job. A file lock decides on this machine and, among nodes
that share a PostgreSQL, also a lease.

The lease is a row, which only those who may write to the catalog can change. A lock would be held
in an open transaction for as long as the service runs, which delays vacuum.
"""

import contextlib
import fcntl
import os
import secrets
import time
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from .named_errors import errors_named

_LEASE_MS = 10_000
_RENEWED_AFTER_S = 4.0

# By the clock of the database, which all nodes share.
_NOW_MS = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
_FIND_OTHER = sa.text(
    f"SELECT until - {_NOW_MS} FROM leaders "  # noqa: S608
    f"WHERE job = :job AND process <> :process AND until > {_NOW_MS}"
)
_TAKE = sa.text(
    f"""
    INSERT INTO leaders (job, process, until) VALUES (:job, :process, {_NOW_MS} + {_LEASE_MS})
    ON CONFLICT (job) DO UPDATE SET process = excluded.process, until = excluded.until
    WHERE leaders.process = excluded.process OR leaders.until <= {_NOW_MS}
    """  # noqa: S608
)
_GIVE_UP = sa.text("DELETE FROM leaders WHERE job = :job AND process = :process")


class Leadership:
    """The file lock is released when the process ends, and the lease expires soon after."""

    def __init__(self, lock_file: Path, engine: Engine, job: str) -> None:
        self._descriptor = os.open(lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._engine = engine if engine.dialect.name == "postgresql" else None
        self._values = {"job": job, "process": secrets.token_hex(8)}
        self._is_first_here = False
        self._renewed_at: float | None = None
        # Another process is the leader until then, or longer.
        self._asked_again_at = float("-inf")

    def is_held(self) -> bool:
        """Whether this process is the leader; becomes it if there is none. Raises StoreUnavailable
        if the database does not respond; the leadership is then lost.
        """
        if not self._is_first_here:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            self._is_first_here = True
        since = self._renewed_at
        is_fresh = since is not None and time.monotonic() - since < _RENEWED_AFTER_S
        if self._engine is None or is_fresh:
            return True
        began = time.monotonic()
        if began < self._asked_again_at:
            return False
        self._renewed_at = None
        with errors_named(), self._connected(self._engine) as connection:
            # Unless it is the leader: reading first, because the other statement would write even
            # if it changes nothing.
            if since is None:
                other = connection.execute(_FIND_OTHER, self._values).scalar()
                if other is not None:
                    self._asked_again_at = began + min(_RENEWED_AFTER_S, other / 1000)
                    return False
            if connection.execute(_TAKE, self._values).rowcount != 1:
                return False
        self._renewed_at = began
        return True

    def _connected(self, engine: Engine) -> Connection:
        return engine.connect().execution_options(isolation_level="AUTOCOMMIT")

    def close(self) -> None:
        if self._engine is not None and self._renewed_at is not None:
            # If this fails, the lease expires.
            with (
                contextlib.suppress(sa.exc.SQLAlchemyError),
                self._connected(self._engine) as connection,
            ):
                connection.execute(_GIVE_UP, self._values)
        os.close(self._descriptor)
