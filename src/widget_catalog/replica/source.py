"""What a replica is made of: reads of the store, and whether both belong together."""

import numpy as np

from ..store import feed, widgets
from ..store.engine import Snapshot
from ..store.feed import Change
from ..store.staging import find_import
from .file import State
from .ordinals import Array
from .rows import FeedEntry


def fits(connection: Snapshot, state: State) -> bool:
    """Whether it is of this format, and was made from this very store as it has been before."""
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
        times[numbers(ids)] = numbers(changed_at)  # Of several, the last one stays.
    return times


def numbers(joined: str) -> Array:
    return np.fromstring(joined, dtype=np.int64, sep=",")
