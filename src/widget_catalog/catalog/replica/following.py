"""Follower: keeps the replica of a node up to date with the changes of all nodes on PostgreSQL.

Every worker has one, and a file lock elects the active one: one per node. If its process ends, the
kernel releases the lock, and another worker's follower takes over. One thread listens, so that
database availability and replication lag are always known; another applies changes.

Nodes are notified of changes, and of counts. Without a notification, a node queries the database
only once in some seconds: notifications may be lost.
"""

import fcntl
import threading
import time
from collections.abc import Callable
from pathlib import Path

import structlog

from ...core.db.engine import Store
from ...core.db.listening import Listening, ReadOnlyServer, describe_strangers
from ...core.db.migrate import SCHEMA, migrate
from ...core.db.transaction_ids import transaction_horizon
from ...core.errors import StoreUnavailable
from .node_status import NodeStatus
from .replica import Replica
from .revision import Counts, opened_file
from .source import StoredCounts, follow_counts

_log = structlog.get_logger("widget_catalog.follower")
_NOT_SHOWN = "What other nodes have changed cannot be shown."

# How often an idle follower checks whether it should take over.
_RELIEF_S = 0.2
# How often to check that the database responds, which is no transaction.
_BEAT_S = 0.5
# Until then a thread returns its connection, unless the database hangs.
_END_TIMEOUT_S = 5.0
_RETRY_S = 0.5
# How often to read the end of the feed without a notification; also to check the other nodes.
_LOOK_S = 5.0
# How often to compare the replica with the feed, and to read counts, without a notification.
_APPLY_S = 10.0
# Counts are notified of at most this often by all nodes together: the server serializes notifying
# transactions. For longer than that, all nodes read counts at every beat.
_TELL_COUNTS_S = 1.0
_COUNTING_S = 2.5


class Follower:
    def __init__(
        self,
        lock_file: Path,
        status: NodeStatus,
        store: Store,
        replica: Replica,
        counts: Counts,
        listen: Callable[[], Listening],
    ) -> None:
        """`store` must not depend on this follower's status of the database."""
        self._lock_file = lock_file
        self._status = status
        self._store = store
        self._replica = replica
        replica.applier.on_applied = status.applied
        self._counts = counts
        self._listen = listen
        self._strangers: list[str] = []
        self._is_failing = False
        self._schema = SCHEMA
        # Set with every new connection: see _follow_counts.
        self._is_new = threading.Event()
        # Set if there may be something to apply.
        self._is_changed = threading.Event()
        # When a node has last notified of counts, and the counts here that were notified of.
        self._counts_told_at = float("-inf")
        self._told = 0
        self._ended = threading.Event()
        self._woken = threading.Event()
        self._threads = [threading.Thread(target=self._lead, name="follower", daemon=True)]
        self._threads[0].start()

    def close(self) -> None:
        self._ended.set()
        self._woken.set()
        for it in self._threads:
            it.join(timeout=_END_TIMEOUT_S)
        self._store.close()

    def _lead(self) -> None:
        with opened_file(self._lock_file, 0o600) as descriptor:
            while not self._ended.is_set():
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    self._ended.wait(_RELIEF_S)
                    continue
                self._threads.append(threading.Thread(target=self._apply_forever, daemon=True))
                self._threads[-1].start()
                self._listen_forever()

    def _listen_forever(self) -> None:
        while not self._ended.is_set():
            try:
                with self._listen() as listening:
                    self._is_new.set()
                    self._hear(listening)
            except ReadOnlyServer as error:
                self._status.database_became_read_only()
                self._note_error("The database takes no writes. Reads go on.", error)
            except Exception as error:  # An error of the driver or the network.
                self._status.database_failed()
                self._note_error("The database does not answer. Reads go on.", error)

    def _note_error(self, what: str, error: Exception) -> None:
        if not self._is_failing:
            _log.error(what, error=" ".join(str(error).split()))
        self._is_failing = True
        self._ended.wait(_RETRY_S)

    def _hear(self, listening: Listening) -> None:
        """Runs until this ends, or the connection fails."""
        looked_at = beat_at = float("-inf")
        is_changed, applied_told = True, -1
        while not self._ended.is_set():
            now = time.monotonic()
            is_beat, is_late = now - beat_at >= _BEAT_S, now - looked_at >= _LOOK_S
            is_applying = self._status.lag_changes or self._status.applied_seq != applied_told
            if is_changed or is_late or self._schema < SCHEMA or (is_beat and is_applying):
                with listening.one_transaction():
                    if self._status.lag_changes:
                        self._status.others_applied(listening.find_applied_by_others())
                    if is_late:
                        looked_at = now
                        self._note_strangers(listening.find_strangers())
                    applied_told = self._status.applied_seq
                    self._look(listening)  # The last query before the wait: other nodes read it.
                beat_at = now
                # What was changed between a look and the first LISTEN was not heard.
                is_changed = self._schema >= SCHEMA and listening.start()
                if is_changed:
                    continue
            elif is_beat:
                listening.check()
                self._status.database_is_there()
                beat_at = now
            self._woken.set()
            self._tell_counts(listening)
            heard = listening.wait(max(0.0, beat_at + _BEAT_S - time.monotonic()))
            is_changed = heard.changes
            if is_changed:
                self._is_changed.set()
                self._status.note_notification()
            if heard.counts:
                self._counts_told_at = time.monotonic()

    def _look(self, listening: Listening) -> None:
        newest_seq, schema = listening.read_state(self._status.applied_seq)
        # A release that can write to the newer schema goes on as before.
        is_newer = schema > SCHEMA and listening.read_oldest_writer() > SCHEMA
        self._note_release(schema, is_newer=is_newer)
        if schema < SCHEMA:  # It is migrated first.
            return
        if newest_seq != self._status.newest_seq:  # Perhaps without a notification.
            self._is_changed.set()
            self._status.note_notification()
        self._status.database_responded(newest_seq, is_newer=is_newer)
        if self._is_failing:
            _log.info("The database answers again.")
        self._is_failing = False

    def _tell_counts(self, listening: Listening) -> None:
        """Notify all nodes of what was counted here. If one of them has notified just now, all of
        them are reading counts already.
        """
        counted_at = self._status.counted_at
        if counted_at == self._told or time.monotonic() < self._counts_told_at + _TELL_COUNTS_S:
            return
        self._counts_told_at = time.monotonic()
        if listening.notify_counts(self._status.applied_seq):
            self._told = counted_at

    def _note_release(self, schema: str, *, is_newer: bool) -> None:
        if is_newer and not self._status.is_newer:
            _log.warning(
                "The database was migrated by a newer release. This node goes on to show what is "
                "there, and changes nothing any more: upgrade it.",
                schema=schema,
                known=SCHEMA,
            )
        self._schema = schema

    def _note_strangers(self, strangers: list[str]) -> None:
        if strangers and strangers != self._strangers:
            _log.warning(describe_strangers(strangers))
        self._strangers = strangers

    def _apply_forever(self) -> None:
        applied_at = counted_at = float("-inf")
        is_failing = False
        while not self._ended.is_set():
            self._woken.wait(_BEAT_S)
            self._woken.clear()
            if self._ended.is_set():
                return
            try:
                if self._schema < SCHEMA:  # The database was down when this node started.
                    migrate(self._store)
                is_changed, now = self._is_applying_due(applied_at), time.monotonic()
                if is_changed:
                    self._is_changed.clear()
                    self._replica.apply(self._store)
                    self._status.applied(self._replica.applied_seq())
                    applied_at = now
                is_counting = now < self._counts_told_at + _COUNTING_S or self._is_new.is_set()
                # A change, such as an import, may include counts.
                if is_changed or (is_counting and now - counted_at >= _BEAT_S):
                    counted_at = now
                    self._follow_counts()
                is_failing = False
            except StoreUnavailable as error:
                self._is_changed.set()
                if not is_failing:
                    _log.error(_NOT_SHOWN, error=error.message)
                is_failing = True
                self._ended.wait(_RETRY_S)
            except Exception:
                self._is_changed.set()
                _log.exception(_NOT_SHOWN)
                self._ended.wait(_RETRY_S * 2)

    def _is_applying_due(self, applied_at: float) -> bool:
        return (
            self._is_changed.is_set()
            or self._is_new.is_set()
            or time.monotonic() - applied_at >= _APPLY_S
            or not self._replica.shows(self._status.newest_seq)
        )

    def _follow_counts(self) -> None:
        """Other nodes' counts are found by transaction ids. A server that has crashed, or a
        promoted standby, may reuse ids: so all counts are compared after every new connection.
        """
        if self._is_new.is_set():
            self._is_new.clear()
            try:
                counted = transaction_horizon(self._store)
                StoredCounts(self._counts, is_shared=True).mend(self._store)
            except StoreUnavailable:
                self._is_new.set()
                raise
        else:
            counted = follow_counts(self._counts, self._store, self._status.counted)
        self._status.counted = counted
