"""LockWatch: notices that a transaction does not release the lock for publishing on PostgreSQL."""

import time

import structlog

from ...core.db.table_locks import LockHolder
from .node_status import NodeStatus

_log = structlog.get_logger("widget_catalog.follower")

_REPORTED_AFTER_S = 10.0


class LockWatch:
    def __init__(self, status: NodeStatus) -> None:
        self._status = status
        self._transaction: str | None = None
        self._since = 0.0
        self._is_reported = False

    def note(self, holder: LockHolder | None) -> None:
        """Called every few seconds. An import takes the lock again and again: only a holder that
        is still the same blocks others.
        """
        now = time.monotonic()
        if holder is None or holder.transaction != self._transaction:
            self._transaction = None if holder is None else holder.transaction
            self._since = now
            self._status.publishing_blocked(0)
            if self._is_reported:
                _log.info("The catalog can be changed again.")
            self._is_reported = False
            return
        self._status.publishing_blocked(now - self._since)
        if now - self._since >= _REPORTED_AFTER_S and not self._is_reported:
            _log.error("The catalog cannot be changed.", reason=holder.sentence)
            self._is_reported = True
