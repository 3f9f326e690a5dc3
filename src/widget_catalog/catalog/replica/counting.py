"""Keeps the counts in shared memory in step with the store, also if other nodes count."""

from typing import NamedTuple

import numpy as np

from ...core.db.engine import Snapshot, Store
from ...core.db.postgresql import oldest_transaction
from ..store import downloads, widgets
from .ordinals import Array
from .revision import Counts
from .source import numbers


class StoredCounts(NamedTuple):
    """Widget numbers and their stored counts. Arrays, because after a restore all widgets are
    included.
    """

    ids: Array
    counts: Array


def wrong_counts(counts: Counts, connection: Snapshot) -> StoredCounts:
    """The stored counts of the widgets whose count in memory differs."""
    highest = widgets.highest_id(connection)
    counts.reserve(highest)
    stored = np.zeros(highest + 1, dtype=np.uint64)
    for ids, some in downloads.stream_counts(connection):
        stored[numbers(ids)] = numbers(some)
    wrong = np.flatnonzero(counts.array[1 : highest + 1] != stored[1:]) + 1
    return StoredCounts(wrong, stored[wrong])


def mend_shared_counts(counts: Counts, store: Store) -> int:
    """Corrects counts while others write; returns how many were wrong.

    A count that is too small is not an error: somebody may have counted in the meantime. One that
    is too large is, because memory is updated after the commit.
    """
    with counts.locked(), store.reading() as connection:
        found = wrong_counts(counts, connection)
        too_large = np.count_nonzero(found.counts < counts.array[found.ids])
        counts.record_all(*found)
    return int(too_large)


def follow_counts(counts: Counts, store: Store, since: int) -> int:
    """Apply the counts of other nodes; returns where to continue next time."""
    with store.reading() as connection:
        start = oldest_transaction(connection)
        counted = downloads.list_counted(connection, since)
    if counted:
        counts.reserve(max(number for number, _ in counted))
        counts.raise_to(counted)
    return start
