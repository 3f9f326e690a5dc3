"""Fills a new replica from the store; for many widgets, in several processes.

One process reads the rows, from one snapshot, and writes the records. Checking the rows and
rendering and encoding the documents takes twice as long, and runs in other processes.
"""

import contextlib
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import TypeAlias

from ...core.db.engine import Snapshot, Store
from ...core.jobs.process_pool import collector_paused, map_batches
from ..store import feed, widgets
from ..store.feed import Change
from .encoding import Asked, Damaged, Encoded, Records, encode_batch
from .file import ReplicaFile, State
from .mapped_memory import release_mapped
from .ordinals import Array
from .source import change_times, entry_of
from .writing import KEPT_CHANGES, ReplicaWriter

_BATCH = 500
# Up to this many batches take a second or two, which does not justify another process.
_BATCHES_ALONE = 10
# What is written in a transaction: each rewrites most pages of the tables by key, and keeps what it
# has written in memory.
_MAX_BATCHES = 10
_MAX_BYTES = 32 << 20
_CHANGES_AT_ONCE = 5_000

_Batch: TypeAlias = tuple[Asked, list[Records], list[Damaged]]

Progress = Callable[[int], None]
Bar = Callable[[int], AbstractContextManager[Progress]]
"""Shows how far it has come, of so many widgets."""


@contextlib.contextmanager
def no_bar(_total: int) -> Iterator[Progress]:
    yield lambda _: None


def fill(file: ReplicaFile, store: Store, bar: Bar) -> list[str]:
    """Returns errors about widgets that are damaged in the store."""
    damage = []
    with (
        store.reading() as connection,
        bar(widgets.count_widgets(connection)) as progress,
        collector_paused(),
    ):
        newest = feed.find_change(connection, feed.latest_seq(connection))
        changed_at = change_times(connection)
        with (
            contextlib.closing(_stream(connection, changed_at, store.now_ms())) as batches,
            contextlib.closing(map_batches(encode_batch, batches, alone=_BATCHES_ALONE)) as encoded,
        ):
            for some in _transactions(encoded):
                with file.writing() as transaction:
                    writer = ReplicaWriter(file, transaction, is_new=True)
                    for batch, records, damaged in some:
                        for it in records:
                            writer.put(it)
                        for widget_id, scope, name, sentence in damaged:
                            writer.put_lost(widget_id, scope, name)
                            damage.append(sentence)
                        progress(len(batch))
                    writer.finish()
                release_mapped(file.path.parent)
        fill_changes(file, connection, newest)
    return damage


def _transactions(encoded: Iterable[tuple[Asked, Encoded]]) -> Iterator[list[_Batch]]:
    """The batches to be written together."""
    some: list[_Batch] = []
    size = 0
    for batch, (rows, damaged) in encoded:
        records = [Records(*it) for it in rows]
        some.append((batch, records, damaged))
        size += sum(len(it.document) for it in records)
        if len(some) == _MAX_BATCHES or size > _MAX_BYTES:
            yield some
            some, size = [], 0
    if some:
        yield some


def _stream(connection: Snapshot, changed_at: Array, now_ms: int) -> Generator[Asked, None, None]:
    """Must be closed before the connection. A thread reads the next rows while the previous ones
    are processed, so that a database on another machine works in parallel.
    """
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(widgets.read_rows, connection, 0, _BATCH)
        while rows := coming.result():
            coming = reader.submit(widgets.read_rows, connection, rows[-1].widget[0], _BATCH)
            yield [(int(changed_at[it.widget[0]]) or now_ms, *it) for it in rows]


def fill_changes(file: ReplicaFile, connection: Snapshot, newest: Change | None) -> None:
    """Write the newest changes, for readers that follow them, and the applied position."""
    after = max(0, newest.seq - KEPT_CHANGES) if newest is not None else 0
    while rows := feed.list_changes(connection, after, _CHANGES_AT_ONCE):
        after = rows[-1].seq
        with file.writing() as transaction:
            ReplicaWriter(file, transaction, is_new=True).note(rows)
        release_mapped(file.path.parent)
    with file.writing() as transaction:
        applied = None if newest is None else entry_of(newest)
        file.put_state(transaction, State(applied=applied))
