"""Follower: keeps the replica of a node up to date with the changes of all nodes on PostgreSQL.

Every worker has one, and a file lock elects the active one: one per node. If its process ends, the
kernel releases the lock, and another worker's follower takes over. One thread listens, so that
database availability and replication lag are always known; another applies changes.

Nodes are notified of changes, and of counts. Without a notification, a node queries the database
only once in some seconds: notifications may be lost.
"""

import fcntl
import threading
from collections.abc import Callable
from enum import Enum, auto
from pathlib import Path

import structlog

from ...core.db.engine import Store
from ...core.db.listening import Listening, ReadOnlyServer, describe_strangers
from ...core.db.migrate import SCHEMA, migrate
from ...core.db.transaction_ids import transaction_horizon
from ...core.errors import StoreUnavailable
from .due import Due
from .node_status import NodeStatus
from .replica import Replica
from .revision import Counts, opened_file
from .source import StoredCounts, follow_counts

_log = structlog.get_logger("widget_catalog.follower")
_NOT_SHOWN = "What other nodes have changed cannot be shown."

# How often an idle follower checks whether it should take over.
_RELIEF_S = 0.2
# Until then a thread returns its connection, unless the database hangs.
_END_TIMEOUT_S = 5.0
_RETRY_S = 0.5
# After a notification of counts, all nodes read counts for this long.
_COUNTING_S = 2.5


class Task(Enum):
    CHECK = auto()
    LOOK = auto()
    OTHER_NODES = auto()
    TELL_COUNTS = auto()
    APPLY = auto()
    COUNTS = auto()
    ALL_COUNTS = auto()


# What is done how often, unless it is called for. The first four by the thread that listens.
EVERY_S = {
    # That the database responds, which is no transaction.
    Task.CHECK: 0.5,
    # At the end of the feed: after a notification; and with the next task, in case one was lost.
    Task.LOOK: float("inf"),
    # Whether all nodes have the same secrets.
    Task.OTHER_NODES: 5.0,
    # By all nodes together: the server serializes notifying transactions.
    Task.TELL_COUNTS: 1.0,
    # Compares the replica with the feed.
    Task.APPLY: 10.0,
    # Those that other nodes have counted, as long as somebody counts.
    Task.COUNTS: 0.5,
    # After every new connection: see _follow_counts.
    Task.ALL_COUNTS: float("inf"),
}


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
        self._due = Due(EVERY_S)
        # What other nodes were told: the last change that was applied here, and the last count.
        self._applied_told = -1
        self._counts_told = 0
        self._ended = threading.Event()
        self._woken = threading.Event()
        self._threads = [threading.Thread(target=self._lead, name="follower", daemon=True)]
        self._threads[0].start()

    def close(self) -> None:
        self._ended.set()
        self._woken.set()
        for thread in self._threads:
            thread.join(timeout=_END_TIMEOUT_S)
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
                    self._applied_told = -1
                    self._due.call_for(Task.LOOK, Task.OTHER_NODES, Task.APPLY, Task.ALL_COUNTS)
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
        due = self._due
        while not self._ended.is_set():
            if self._is_look_due():
                self._look(listening)
                due.done(Task.CHECK)
                # What was changed between a look and the first LISTEN was not heard.
                if self._schema >= SCHEMA and listening.start():
                    due.call_for(Task.LOOK)
                    continue
            elif due.take(Task.CHECK):
                listening.check()
                self._status.database_is_there()
            self._woken.set()
            self._tell_counts(listening)
            heard = listening.wait(due.wait_s(Task.CHECK))
            if heard.changes:
                due.call_for(Task.LOOK)
                self._note_changes()
            if heard.counts:
                due.done(Task.TELL_COUNTS)

    def _is_look_due(self) -> bool:
        """At every check, too, if the database must be migrated first, or while changes are
        applied: other nodes are told.
        """
        due, status = self._due, self._status
        is_busy = (
            self._schema < SCHEMA
            or status.lag_changes > 0
            or status.applied_seq != self._applied_told
        )
        tasks = (Task.LOOK, Task.OTHER_NODES, *((Task.CHECK,) if is_busy else ()))
        return any(due.is_due(it) for it in tasks)

    def _note_changes(self) -> None:
        self._due.call_for(Task.APPLY)
        self._status.note_notification()

    def _look(self, listening: Listening) -> None:
        self._due.done(Task.LOOK)
        with listening.one_transaction():
            if self._status.lag_changes:
                self._status.others_applied(listening.find_applied_by_others())
            if self._due.take(Task.OTHER_NODES):
                self._note_strangers(listening.find_strangers())
            self._applied_told = self._status.applied_seq
            self._read_state(listening)  # The last query before the wait: other nodes read it.

    def _read_state(self, listening: Listening) -> None:
        newest_seq, schema = listening.read_state(self._status.applied_seq)
        # A release that can write to the newer schema goes on as before.
        is_newer = schema > SCHEMA and listening.read_oldest_writer() > SCHEMA
        self._note_release(schema, is_newer=is_newer)
        if schema < SCHEMA:  # It is migrated first.
            return
        if newest_seq != self._status.newest_seq:  # Perhaps without a notification.
            self._note_changes()
        self._status.database_responded(newest_seq, is_newer=is_newer)
        if self._is_failing:
            _log.info("The database answers again.")
        self._is_failing = False

    def _tell_counts(self, listening: Listening) -> None:
        """Notify all nodes of what was counted here. If one of them has notified just now, all of
        them are reading counts already.
        """
        counted_at = self._status.counted_at
        if counted_at != self._counts_told and self._due.take(Task.TELL_COUNTS):
            is_told = listening.notify_counts(self._status.applied_seq)
            self._counts_told = counted_at if is_told else self._counts_told

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
        is_failing = False
        while not self._ended.is_set():
            self._woken.wait(EVERY_S[Task.CHECK])
            self._woken.clear()
            if self._ended.is_set():
                return
            try:
                if self._schema < SCHEMA:  # The database was down when this node started.
                    migrate(self._store)
                self._catch_up()
                is_failing = False
            except StoreUnavailable as error:
                self._due.call_for(Task.APPLY)
                if not is_failing:
                    _log.error(_NOT_SHOWN, error=error.message)
                is_failing = True
                self._ended.wait(_RETRY_S)
            except Exception:
                self._due.call_for(Task.APPLY)
                _log.exception(_NOT_SHOWN)
                self._ended.wait(_RETRY_S * 2)

    def _catch_up(self) -> None:
        due = self._due
        is_applying = due.take(Task.APPLY) or not self._replica.shows(self._status.newest_seq)
        if is_applying:
            due.done(Task.APPLY)
            self._replica.apply(self._store)
            self._status.applied(self._replica.applied_seq())
        is_counting = due.since_s(Task.TELL_COUNTS) < _COUNTING_S
        # A change, such as an import, may include counts.
        if is_applying or (is_counting and due.is_due(Task.COUNTS)):
            due.done(Task.COUNTS)
            self._follow_counts()

    def _follow_counts(self) -> None:
        """Other nodes' counts are found by transaction ids. A server that has crashed, or a
        promoted standby, may reuse ids: so all counts are compared after every new connection.
        """
        if self._due.take(Task.ALL_COUNTS):
            try:
                counted = transaction_horizon(self._store)
                StoredCounts(self._counts, is_shared=True).mend(self._store)
            except StoreUnavailable:
                self._due.call_for(Task.ALL_COUNTS)
                raise
        else:
            counted = follow_counts(self._counts, self._store, self._status.counted)
        self._status.counted = counted
