"""Reads the input of a replica from the store, and checks whether both match."""

import numpy as np

from ...core.db.engine import Snapshot
from ..store import feed, widgets
from ..store.feed import Change
from ..store.staging import find_import
from .file import State
from .ordinals import Array
from .rows import FeedEntry


def fits(connection: Snapshot, state: State) -> bool:
    """Whether it has this format, and was built from an earlier state of exactly this store."""
    if state.format != State().format:
        return False
    if state.applied is None:
        return True
    found = feed.find_change(connection, state.seq)
    return found is not None and entry_of(found) == state.applied


def is_importing(connection: Snapshot) -> bool:
    staged = find_import(connection)
    return staged is not None and staged.is_accepted


def entry_of(change: Change) -> FeedEntry:
    return FeedEntry(change.seq, change.widget_id, change.scope, change.changed_at)


def change_times(connection: Snapshot) -> Array:
    """When each widget last changed, by number."""
    times = np.zeros(widgets.highest_id(connection) + 1, dtype=np.int64)
    for ids, changed_at in feed.stream_times(connection):
        times[numbers(ids)] = numbers(changed_at)  # The last of several wins.
    return times


def numbers(joined: str) -> Array:
    return np.fromstring(joined, dtype=np.int64, sep=",")
