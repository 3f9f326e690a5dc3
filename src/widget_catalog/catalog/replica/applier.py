"""Applier: brings a file of the replica up to date with the feed."""

from collections.abc import Callable, Iterable, Sequence

import structlog

from ...core.db.engine import Snapshot, Store
from ...core.db.prepared import PreparedBatch
from ...core.errors import DataDamaged
from ..store import feed, widgets
from ..store.feed import StoredChange
from .encoding import Records, numbered, records_of
from .file import ReplicaFile, ReplicaState
from .rendering import render
from .revision import Counts
from .source import entry_of, is_importing
from .writing import PreparedReader, ReplicaWriter

_log = structlog.get_logger("widget_catalog.replica")

# Changes applied per transaction.
_AT_ONCE = 2_000


class Applier:
    def __init__(
        self, counts: Counts, on_damage: Callable[[DataDamaged], object] | None = None
    ) -> None:
        self._counts = counts
        self._on_damage = on_damage
        # Called with the number of the last change, after each of many transactions.
        self.on_applied: Callable[[int], None] = lambda _seq: None

    def apply(
        self, file: ReplicaFile, store: Store, prepared: Iterable[PreparedBatch] = ()
    ) -> None:
        """Apply all changes. Under the lock, or on a file that no other process uses."""
        reader = PreparedReader(prepared)
        # Killed readers would keep pages of the file from being reused.
        file.environment.reader_check()
        while self._apply_next(file, store, reader):
            pass

    def report(self, sentence: str) -> None:
        """A widget of the store is damaged."""
        _log.error("A widget cannot be shown.", error=sentence)
        if self._on_damage is not None:
            self._on_damage(DataDamaged(sentence))

    def _apply_next(self, file: ReplicaFile, store: Store, reader: PreparedReader) -> bool:
        """Whether there may be more: later changes are applied by their writers."""
        with file.reading() as reading:
            state = file.state(reading)
        with store.reading() as connection:
            rows = feed.list_changes(connection, state.seq, _AT_ONCE)
            importing = is_importing(connection)
            if not rows and importing == state.is_importing:
                return False
            records = self._records(connection, rows, reader)
        if records:
            self._counts.reserve(max(it.id for it in records))
        applied = entry_of(rows[-1]) if rows else state.applied
        with file.writing() as transaction:
            writer = ReplicaWriter(file, transaction)
            for record in records:
                writer.put(record)
            writer.note(rows)
            writer.finish(ReplicaState(applied=applied, is_importing=importing))
        self.on_applied(0 if applied is None else applied.seq)
        return len(rows) == _AT_ONCE

    def _records(
        self, connection: Snapshot, rows: Sequence[StoredChange], reader: PreparedReader
    ) -> list[Records]:
        """The records of the changed widgets. A damaged one keeps its document."""
        latest = {it.widget_id: it.seq for it in rows}
        changed_at = {it.widget_id: it.changed_at for it in rows}
        prepared = reader.take(latest, rows[-1].seq) if rows else {}
        found = [numbered(it, number, changed_at[number]) for number, it in prepared.items()]
        missing = [it for it in latest if it not in prepared]
        for start in range(0, len(missing), 500):
            some = widgets.read_widgets(connection, missing[start : start + 500])
            found += [records_of(it.id, changed_at[it.id], render(it.widget)) for it in some.intact]
            for lost in some.damaged.values():
                self.report(lost.sentence)
        return found
