"""Fills a new replica: from the store, or from what is being imported.

One process reads the rows of the store, from one snapshot, and writes the records. Checking rows,
rendering and encoding documents take twice as long: if there are many, in other processes.
"""

import contextlib
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import cast

import msgspec
import structlog

from ...core.db.engine import Snapshot, Store
from ...core.db.prepared import PreparedBatch
from ...core.errors import StoreUnavailable
from ...core.jobs.process_pool import collector_paused, map_batches
from ..store import feed, widgets
from ..store.feed import StoredChange
from .encoding import Asked, Damaged, Encoded, Records, decode_prepared, encode_batch, numbered
from .file import ReplicaFile, ReplicaState, make_current, release_mapped, remove_others
from .ordinals import Array
from .source import change_times, entry_of
from .writing import KEPT_CHANGES, ReplicaWriter

_BATCH = 500
# Up to this many batches take a second or two, which does not justify another process.
_BATCHES_ALONE = 10
# Widgets and bytes per transaction: each rewrites most pages of the tables by key, and keeps what
# it has written in memory.
_AT_ONCE = 5_000
_MAX_BYTES = 32 << 20
_CHANGES_AT_ONCE = 5_000

Progress = Callable[[int], None]
Bar = Callable[[int], AbstractContextManager[Progress]]
"""Shows how far it has come, of so many widgets."""

_log = structlog.get_logger("widget_catalog.replica")


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
            for records, lost in _transactions(encoded, progress):
                _write(file, records, lost)
                damage += [sentence for *_, sentence in lost]
                release_mapped(file.path.parent)
        fill_changes(file, connection, newest)
    return damage


def _transactions(
    encoded: Iterable[tuple[Asked, Encoded]], progress: Progress
) -> Iterator[tuple[list[Records], list[Damaged]]]:
    """What is to be written together."""
    records: list[Records] = []
    lost: list[Damaged] = []
    size = 0
    for batch, (rows, damaged) in encoded:
        new = [Records(*it) for it in rows]
        records += new
        lost += damaged
        size += sum(len(it.document) for it in new)
        if len(records) + len(lost) >= _AT_ONCE or size > _MAX_BYTES:
            yield records, lost
            records, lost, size = [], [], 0
        progress(len(batch))
    if records or lost:
        yield records, lost


def _write(
    file: ReplicaFile,
    records: Iterable[Records],
    lost: Iterable[Damaged] = (),
    *,
    is_new: bool = True,
) -> None:
    with file.writing() as transaction:
        writer = ReplicaWriter(file, transaction, is_new=is_new)
        for record in records:
            writer.put(record)
        for widget_id, scope, name, _ in lost:
            writer.put_lost(widget_id, scope, name)
        writer.finish()


def _stream(connection: Snapshot, changed_at: Array, now_ms: int) -> Generator[Asked, None, None]:
    """Must be closed before the connection. A thread reads the next rows while the previous ones
    are processed, so that a database on another machine works in parallel.
    """
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(widgets.read_rows, connection, 0, _BATCH)
        while rows := coming.result():
            coming = reader.submit(widgets.read_rows, connection, rows[-1].widget[0], _BATCH)
            yield [(int(changed_at[it.widget[0]]) or now_ms, *it) for it in rows]


def fill_changes(file: ReplicaFile, connection: Snapshot, newest: StoredChange | None) -> None:
    """Write the newest changes, for readers that follow them, and the applied position."""
    after = max(0, newest.seq - KEPT_CHANGES) if newest is not None else 0
    while rows := feed.list_changes(connection, after, _CHANGES_AT_ONCE):
        after = rows[-1].seq
        with file.writing() as transaction:
            ReplicaWriter(file, transaction, is_new=True).note(rows)
        release_mapped(file.path.parent)
    with file.writing() as transaction:
        applied = None if newest is None else entry_of(newest)
        file.put_state(transaction, ReplicaState(applied=applied))


class NewReplica:
    """The replica of a catalog that was empty, built while its widgets are imported.

    It is complete before the import is committed, and replaces the old file right after the commit,
    before another writer or reader can find the old one outdated. If the import fails, the file is
    removed; if the process is killed, the old file is still valid, and the next start removes this
    one. Errors are logged, not raised: without it, `apply` reads the changes from the store.
    """

    def __init__(
        self,
        file: ReplicaFile,
        at_ms: int,
        held: contextlib.ExitStack,
        lock: Callable[[], contextlib.AbstractContextManager[None]],
        show: Callable[[ReplicaFile], None],
    ) -> None:
        """All widgets change at this time. `held` holds the lock for building a new file; `lock`
        is that of the replica, and `show` notifies its readers.
        """
        self._file = file
        self._at_ms = at_ms
        self._held = held
        self._lock = lock
        self._show = show
        self._new: list[Records] = []
        # Widgets that are repeated, with their last records.
        self._again: dict[int, Records] = {}
        self._bytes = 0
        self._highest_id = 0
        self._latest_seq = 0
        self._is_open = True

    def add(self, batch: PreparedBatch) -> None:
        if not self._is_open:
            return
        self._latest_seq, prepared = batch
        try:
            for number, record in prepared:
                packed = cast(bytes, record)
                self._add(numbered(decode_prepared(packed), number, self._at_ms), len(packed))
        except (msgspec.DecodeError, TypeError):  # Prepared by another release.
            self.close()
        except StoreUnavailable as error:
            self._give_up(error)

    def complete(self, connection: Snapshot) -> None:
        if not self._is_open:
            return
        try:
            self._flush()
            newest = feed.find_change(connection, self._latest_seq)
            fill_changes(self._file, connection, newest)
            self._file.sync()
            # From before the commit on: another process would apply all of it to the old file.
            self._held.enter_context(self._lock())
        except StoreUnavailable as error:
            self._give_up(error)

    def use(self) -> None:
        if not self._is_open:
            return
        try:
            make_current(self._file.path)
            self._show(self._file)
        except StoreUnavailable as error:
            self._give_up(error)
        else:
            self.close()

    def close(self) -> None:
        if not self._is_open:
            return
        self._is_open = False
        self._new, self._again = [], {}
        self._file.close()
        remove_others(self._file.path.parent)
        self._held.close()

    def _give_up(self, error: StoreUnavailable) -> None:
        _log.warning("The read model is updated after the import.", error=error.message)
        self.close()

    def _add(self, records: Records, size_bytes: int) -> None:
        if records.id > self._highest_id:
            self._new.append(records)
            self._highest_id = records.id
        else:
            self._again[records.id] = records
        self._bytes += size_bytes
        if len(self._new) + len(self._again) >= _AT_ONCE or self._bytes >= _MAX_BYTES:
            self._flush()

    def _flush(self) -> None:
        for records, is_new in ((self._new, True), (self._again.values(), False)):
            if records:
                _write(self._file, records, is_new=is_new)
        self._new, self._again, self._bytes = [], {}, 0
        release_mapped(self._file.path.parent)
