"""Reads the input of a replica from the store, and checks whether both match; and keeps the counts
in shared memory in step with it, also if other nodes count.
"""

import numpy as np

from ...core.db.engine import Snapshot, Store
from ...core.db.transaction_ids import oldest_transaction
from ...core.errors import WriterBusy
from ..store import downloads, feed, widgets
from ..store.feed import StoredChange
from ..store.staging import find_import
from .file import ReplicaState
from .ordinals import Array
from .revision import Counts
from .rows import FeedEntry


def fits(connection: Snapshot, state: ReplicaState) -> bool:
    """Whether it has this format, and was built from an earlier state of exactly this store."""
    if state.format != ReplicaState().format:
        return False
    if state.applied is None:
        return True
    found = feed.find_change(connection, state.seq)
    return found is not None and entry_of(found) == state.applied


def is_importing(connection: Snapshot) -> bool:
    staged = find_import(connection)
    return staged is not None and staged.is_accepted


def entry_of(change: StoredChange) -> FeedEntry:
    return FeedEntry(change.seq, change.widget_id, change.scope, change.changed_at)


def change_times(connection: Snapshot) -> Array:
    """When each widget last changed, by number."""
    times = np.zeros(widgets.highest_id(connection) + 1, dtype=np.int64)
    for ids, changed_at in feed.stream_times(connection):
        times[numbers(ids)] = numbers(changed_at)  # The last of several wins.
    return times


def numbers(joined: str) -> Array:
    return np.fromstring(joined, dtype=np.int64, sep=",")


class StoredCounts:
    """The counts in shared memory, set from the store. `is_shared`: other nodes count, too."""

    def __init__(self, counts: Counts, *, is_shared: bool) -> None:
        self._counts = counts
        self._is_shared = is_shared

    def show(self, store: Store) -> None:
        """Set the counts as stored, without the lock: for a start that does not get it.

        No service writes counts at that time; a command may write newer ones meanwhile, which is
        corrected once the lock is available.
        """
        with store.reading() as connection:
            self._counts.record_all(*self._wrong(connection))

    def correct(self, store: Store, *, waits: bool = False) -> bool:
        """Before serving. False if another process is writing and this one does not wait."""
        if self._is_shared:
            self._mend_shared(store)
            return True
        try:
            with store.writing(waits=waits) as tx:
                # No other process writes meanwhile, and this changes no stored data.
                self._counts.record_all(*self._wrong(tx.connection))
        except WriterBusy:
            return False
        return True

    def mend(self, store: Store) -> int:
        """While serving; returns how many counts differed."""
        if self._is_shared:
            return self._mend_shared(store)
        with store.reading() as connection:
            if not len(self._wrong(connection)[0]):
                return 0
        # A count may be committed but not in memory yet; under the lock this is excluded.
        with store.writing() as tx:
            ids, stored = self._wrong(tx.connection)
            self._counts.record_all(ids, stored)
        return len(ids)

    def _mend_shared(self, store: Store) -> int:
        """A count that is too small is not an error: somebody may have counted in the meantime. One
        that is too large is, because memory is updated after the commit.
        """
        with self._counts.locked(), store.reading() as connection:
            ids, stored = self._wrong(connection)
            too_large = np.count_nonzero(stored < self._counts.array[ids])
            self._counts.record_all(ids, stored)
        return int(too_large)

    def _wrong(self, connection: Snapshot) -> tuple[Array, Array]:
        """The numbers of the widgets whose count in memory differs, and their stored counts.
        Arrays, because after a restore all widgets are included.
        """
        highest = widgets.highest_id(connection)
        self._counts.reserve(highest)
        stored = np.zeros(highest + 1, dtype=np.uint64)
        for ids, some in downloads.stream_counts(connection):
            stored[numbers(ids)] = numbers(some)
        wrong = np.flatnonzero(self._counts.array[1 : highest + 1] != stored[1:]) + 1
        return wrong, stored[wrong]


def follow_counts(counts: Counts, store: Store, since: int) -> int:
    """Apply the counts of other nodes; returns where to continue next time."""
    with store.reading() as connection:
        start = oldest_transaction(connection)
        counted = downloads.list_counted(connection, since)
    if counted:
        counts.reserve(max(number for number, _ in counted))
        counts.raise_to(counted)
    return start
