"""Leader election: one process does a job. A file lock decides on this machine and, among nodes
that share a PostgreSQL, also an advisory lock.
"""

import contextlib
import fcntl
import os
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from .faults import faults_named

_TRY = sa.text("SELECT pg_try_advisory_lock(:key)")
_IS_THERE = sa.text("SELECT 1")


class Leadership:
    """Both locks are released when the process ends."""

    def __init__(self, lock_file: Path, engine: Engine, key: int) -> None:
        self._descriptor = os.open(lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._engine = engine if engine.dialect.name == "postgresql" else None
        self._key = key
        self._is_first_here = False
        self._connection: Connection | None = None

    def is_held(self) -> bool:
        """Whether this process is the leader; takes the lock if it is free. Raises StoreUnavailable
        if the database does not respond; the lock is then lost.
        """
        if not self._is_first_here:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            self._is_first_here = True
        with faults_named():
            return self._engine is None or self._is_first_of_all(self._engine)

    def _is_first_of_all(self, engine: Engine) -> bool:
        if self._connection is not None:
            try:
                self._connection.execute(_IS_THERE)
            except BaseException:
                self._drop()
                raise
            return True
        connection = engine.execution_options(isolation_level="AUTOCOMMIT").connect()
        if connection.execute(_TRY, {"key": self._key}).scalar():
            self._connection = connection
            return True
        connection.close()
        return False

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(sa.exc.SQLAlchemyError):
                connection.invalidate()  # Not returned to the pool: closing it releases the lock.
                connection.close()

    def close(self) -> None:
        self._drop()
        os.close(self._descriptor)
