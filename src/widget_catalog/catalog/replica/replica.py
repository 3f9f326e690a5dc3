"""Replica: a node's read model, in a separate file, updated only by `apply`.

A writer calls `apply` after the commit and before responding, a start calls it once, and the
service periodically. It reads the feed from the replica's position, so it does not matter who
calls it: if a process is killed between its commit and `apply`, the next call catches up.
"""

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import structlog
import xxhash

from ...core.data_folder import DataFolder
from ...core.db.engine import Snapshot, Store
from ...core.db.file_lock import file_lock
from ...core.db.prepared import PreparedBatch, PreparedRecords
from ...core.db.transaction import Write, prepare_nothing
from ...core.errors import DataDamaged, ReplicaDamaged, StoreUnavailable
from ..store import feed, widgets
from ..store.feed import StoredChange
from .encoding import Records, numbered, prepare, records_of
from .file import (
    ReplicaFile,
    ReplicaState,
    make_current,
    new_path,
    open_current,
    open_shared,
    remove_others,
)
from .filling import Bar, NewReplica, fill, no_bar
from .integrity import Healing
from .rendering import render
from .revision import Counts, Revision
from .source import StoredCounts, entry_of, fits, is_importing
from .writing import PreparedReader, ReplicaWriter

_log = structlog.get_logger("widget_catalog.replica")

# Changes applied per transaction.
_AT_ONCE = 2_000
# How long a writer waits for others that apply; its changes may be applied by then.
_TIMEOUT_S = 5.0
_REBUILD_TIMEOUT_S = 3_600.0


class Replica:
    """Listens to every write to the store."""

    def __init__(
        self,
        folder: DataFolder,
        revision: Revision,
        counts: Counts,
        *,
        program: str = "",
        on_damage: Callable[[DataDamaged], object] | None = None,
        is_shared: bool = False,
        applies: bool = True,
        on_counted: Callable[[], object] = lambda: None,
    ) -> None:
        """`is_shared`: other nodes write to the same store, and `on_counted` tells them. Without
        `applies`, it neither applies nor renders: for commands, which leave that to nodes.
        """
        self.path = folder.replica
        self.healing = Healing(folder.replica)
        self._lock_file = folder.replica_lock
        self._rebuild_lock_file = folder.replica_lock.with_suffix(".rebuild")
        self._revision = revision
        self._counts = counts
        self.stored_counts = StoredCounts(counts, is_shared=is_shared)
        self._program = program
        self._on_damage = on_damage
        self._is_shared = is_shared
        self._on_counted = on_counted
        self.applies = applies
        self.prepare = prepare if applies else prepare_nothing
        self._opened: ReplicaFile | None = None
        self._mutex = threading.Lock()
        # A value of the revision word, and the number of the corresponding change.
        self._shown = (0, -1)
        # Why the last attempt to apply has failed.
        self.error: str | None = None
        # Called with the number of the last change, after each of many transactions.
        self.on_applied: Callable[[int], None] = lambda _seq: None

    # Called by the store

    def saving(self, highest_id: int) -> None:
        self._counts.reserve(highest_id)

    def committing(self, tx: Write) -> None:
        if self._is_shared:
            return  # The follower applies it.
        if not tx.is_public and tx.run(feed.LATEST_SEQ)[0][0] != self._shown_seq():
            # A writer that was killed right after its commit left this to the next one.
            tx.mark_public()

    def committed(self, tx: Write) -> None:
        if not tx.counts:
            return
        if self._is_shared:
            self._counts.raise_to(tx.counts.items())
            self._on_counted()
        else:
            self._counts.record(tx.counts.items())

    def begin_copy(self, at_ms: int) -> NewReplica | None:
        """None if one is already being built, or cannot be."""
        with contextlib.ExitStack() as held:
            lock = file_lock(self._rebuild_lock_file, 0.0, self._program)
            if held.enter_context(lock) is not None:
                return None
            try:
                file = ReplicaFile(new_path(self.path), is_new=True)
            except StoreUnavailable:
                return None
            return NewReplica(file, at_ms, held.pop_all(), self.locked, self._show)

    def published(self, store: Store, prepared: PreparedRecords) -> None:
        """The commit is final, whatever happens here: the next `apply` catches up."""
        if not self.applies:
            return
        try:
            self.apply(store, prepared)
        except StoreUnavailable as error:
            is_derived = isinstance(error, ReplicaDamaged)
            if self._on_damage is not None and isinstance(error, DataDamaged) and not is_derived:
                self._on_damage(error)
            _log.error("What was changed cannot be shown yet.", error=error.message)

    # Applying

    def apply(
        self,
        store: Store,
        prepared: Iterable[PreparedBatch] = (),
        bar: Bar = no_bar,
        timeout_s: float | None = None,
    ) -> None:
        """Bring the replica up to date with the feed; rebuild it if it is missing or does not
        match this store. Raises StoreUnavailable, also if others apply for longer than this.
        """
        try:
            if not self._is_done(store) and not self._apply(store, prepared, timeout_s):
                self.rebuild(store, bar, is_needed=self._is_needed)
        except StoreUnavailable as error:
            self.error = error.message
            if isinstance(error, ReplicaDamaged):
                self.healing.condemn(error)
            raise
        self.error = None

    def applied_seq(self) -> int:
        if (file := self._current()) is None:
            return -1
        with file.reading() as reading:
            return file.state(reading).seq

    def _shown_seq(self) -> int:
        """The last change of the state that the revision word stands for; -1 if that state is not
        the stored one. Reads no file while the word stays the same.
        """
        word = self._revision.current()
        if self._shown[0] != word:
            if (file := self._current()) is None:
                return -1
            with file.reading() as reading:
                state = file.state(reading)
            if _word(file, state) != word:
                return -1
            self._shown = (word, state.seq)
        return self._shown[1]

    def is_readable(self) -> bool:
        """Whether there is a replica in this release's format."""
        found = self._find_state()
        return found is not None and found[1].format == ReplicaState().format

    def _find_state(self) -> tuple[ReplicaFile, ReplicaState] | None:
        """The current file and its state; None if there is none, or it is damaged."""
        if (file := self._current()) is None:
            return None
        try:
            with file.reading() as reading:
                return file, file.state(reading)
        except DataDamaged:
            return None

    def shows(self, seq: int) -> bool:
        """Whether all readers see this change. Needs neither a lock nor the store."""
        found = None if self.healing.is_needed else self._find_state()
        return found is not None and self._is_shown(*found) and found[1].seq >= seq

    def _is_shown(self, file: ReplicaFile, state: ReplicaState) -> bool:
        return self._revision.current() == _word(file, state)

    def _is_done(self, store: Store) -> bool:
        """Whether everything is applied and visible to all readers. Needs no lock."""
        found = None if self.healing.is_needed else self._find_state()
        if found is None or not self._is_shown(*found):
            return False
        _, state = found
        with store.reading() as connection:
            return (
                fits(connection, state)
                and feed.latest_seq(connection) == state.seq
                and is_importing(connection) == state.is_importing
            )

    def _apply(
        self, store: Store, prepared: Iterable[PreparedBatch], timeout_s: float | None
    ) -> bool:
        """False: there is no matching replica."""
        with self.locked(timeout_s):
            file = self._current()
            if file is None or self._is_needed(store):
                return False
            self.apply_to(file, store, prepared)
            self._show(file)
        return True

    def apply_to(
        self, file: ReplicaFile, store: Store, prepared: Iterable[PreparedBatch] = ()
    ) -> None:
        """Under the lock, or on a file that no other process uses."""
        reader = PreparedReader(prepared)
        # Killed readers would keep pages of the file from being reused.
        file.environment.reader_check()
        while self._apply_some(file, store, reader):
            pass

    def _show(self, file: ReplicaFile) -> None:
        """Notify readers. If a process is killed before this, the next one does it."""
        with file.reading() as reading:
            self._revision.show(_word(file, file.state(reading)))

    def _apply_some(self, file: ReplicaFile, store: Store, reader: PreparedReader) -> bool:
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
            for it in records:
                writer.put(it)
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
                self._report_damage(lost.sentence)
        return found

    def _report_damage(self, sentence: str) -> None:
        _log.error("A widget cannot be shown.", error=sentence)
        if self._on_damage is not None:
            self._on_damage(DataDamaged(sentence))

    # Rebuilding

    def rebuild(
        self,
        store: Store,
        bar: Bar = no_bar,
        is_needed: Callable[[Store], bool] = lambda _: True,
        is_wanted: Callable[[ReplicaFile, list[str]], bool] = lambda _file, _damage: True,
    ) -> None:
        """Build a new replica next to the current one, which is used until the new one is ready.
        `is_wanted`: whether it is used, given what is damaged in the store.
        """
        with self.locked(_REBUILD_TIMEOUT_S, self._rebuild_lock_file):
            if not is_needed(store):  # Another process has built it meanwhile.
                return
            remove_others(self.path)
            try:
                self._make(new_path(self.path), store, bar, is_wanted)
            finally:
                remove_others(self.path)

    def _make(
        self,
        path: Path,
        store: Store,
        bar: Bar,
        is_wanted: Callable[[ReplicaFile, list[str]], bool],
    ) -> None:
        file = ReplicaFile(path, is_new=True)
        try:
            damage = fill(file, store, bar)
            for sentence in damage:
                self._report_damage(sentence)
            file.sync()
        finally:
            file.close()
        with self.locked():
            # Readers of this process open it as soon as it is current.
            file = open_shared(path)
            try:
                self.apply_to(file, store)
                if is_wanted(file, damage):
                    make_current(path)
                    self._show(file)
            finally:
                file.close()

    def remove_leftovers(self) -> None:
        """Remove unfinished files of killed processes."""
        with file_lock(self._rebuild_lock_file, 0.0, self._program) as holder:
            if holder is None:
                remove_others(self.path)

    def _is_needed(self, store: Store) -> bool:
        found = None if self.healing.is_needed else self._find_state()
        if found is None:
            return True
        with store.reading() as connection:
            return not fits(connection, found[1])

    # The file and its lock

    @contextlib.contextmanager
    def locked(self, timeout_s: float | None = None, path: Path | None = None) -> Iterator[None]:
        """Hold the replica's write lock, or another one of it."""
        file = path or self._lock_file
        with file_lock(file, timeout_s or _TIMEOUT_S, self._program) as holder:
            if holder is not None:
                raise StoreUnavailable(f"The read model cannot be changed just now: {holder}.")
            yield

    def current(self) -> ReplicaFile:
        file = self._current()
        if file is None:
            raise DataDamaged("There is no read model. Run doctor: it makes it.")
        return file

    def _current(self) -> ReplicaFile | None:
        """The current file. It stays usable if it was removed while open. None if there is none
        that can be opened.
        """
        with self._mutex:
            try:
                found = open_current(self.path)
            except DataDamaged:
                found = None
            if found is not None:
                if self._opened is not None:
                    self._opened.close()
                self._opened = found
            return self._opened

    def close(self) -> None:
        """Also call this before a fork: open files must not be used on both sides of it."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None


def _word(file: ReplicaFile, state: ReplicaState) -> int:
    """The value of the revision word for this state; different for every state."""
    return xxhash.xxh3_64_intdigest(f"{file.id} {state.seq} {state.is_importing}".encode())
