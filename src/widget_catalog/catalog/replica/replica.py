"""Replica: a node's read model, in a separate file, updated only by `apply`.

A writer calls `apply` after the commit and before responding, a start calls it once, and the
service periodically. It reads the feed from the replica's position, so it does not matter who
calls it: if a process is killed between its commit and `apply`, the next call catches up.
"""

import contextlib
from collections.abc import Callable, Iterable
from pathlib import Path

from ...core.data_folder import DataFolder
from ...core.db.engine import Store
from ...core.db.file_lock import file_lock
from ...core.db.prepared import PreparedBatch
from ...core.errors import DataDamaged, ReplicaDamaged, StoreUnavailable
from ..store import feed
from .applier import Applier
from .current_file import CurrentFile
from .file import ReplicaFile, ReplicaState, make_current, new_path, open_shared, remove_others
from .filling import Bar, NewReplica, fill, no_bar
from .integrity import Healing
from .revision import Counts, Revision
from .source import StoredCounts, fits, is_importing

_REBUILD_TIMEOUT_S = 3_600.0


class Replica:
    def __init__(
        self,
        folder: DataFolder,
        revision: Revision,
        counts: Counts,
        *,
        program: str = "",
        on_damage: Callable[[DataDamaged], object] | None = None,
        is_shared: bool = False,
    ) -> None:
        """`is_shared`: other nodes write to the same store."""
        self.path = folder.replica
        self.healing = Healing(folder.replica)
        self.stored_counts = StoredCounts(counts, is_shared=is_shared)
        self.applier = Applier(counts, on_damage)
        self._current = CurrentFile(folder, revision, program)
        self._program = program
        self._rebuild_lock_file = folder.replica_lock.with_suffix(".rebuild")
        # Why the last attempt to apply has failed.
        self.error: str | None = None

    def current(self) -> ReplicaFile:
        file = self._current.find()
        if file is None:
            raise DataDamaged("There is no read model. Run doctor: it makes it.")
        return file

    def applied_seq(self) -> int:
        return self._current.seq()

    def shown_seq(self) -> int:
        return self._current.shown_seq()

    def is_readable(self) -> bool:
        """Whether there is a replica in this release's format."""
        found = self._current.find_state()
        return found is not None and found[1].format == ReplicaState().format

    def shows(self, seq: int) -> bool:
        """Whether all readers see this change. Needs neither a lock nor the store."""
        state = self._find_shown_state()
        return state is not None and state.seq >= seq

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
            if not self._is_done(store) and not self._update(store, prepared, timeout_s):
                self.rebuild(store, bar, is_needed=self._must_be_rebuilt)
        except StoreUnavailable as error:
            self.error = error.message
            if isinstance(error, ReplicaDamaged):
                self.healing.condemn(error)
            raise
        self.error = None

    def _is_done(self, store: Store) -> bool:
        """Whether everything is applied and visible to all readers. Needs no lock."""
        if (state := self._find_shown_state()) is None:
            return False
        with store.reading() as connection:
            return (
                fits(connection, state)
                and feed.latest_seq(connection) == state.seq
                and is_importing(connection) == state.is_importing
            )

    def _update(
        self, store: Store, prepared: Iterable[PreparedBatch], timeout_s: float | None
    ) -> bool:
        """False if it must be rebuilt instead."""
        with self._current.locked(timeout_s):
            file = self._current.find()
            if file is None or self._must_be_rebuilt(store):
                return False
            self.applier.apply(file, store, prepared)
            self._current.show(file)
        return True

    def _find_state(self) -> tuple[ReplicaFile, ReplicaState] | None:
        """None if the file must be rebuilt, whatever is in the store."""
        return None if self.healing.is_needed else self._current.find_state()

    def _find_shown_state(self) -> ReplicaState | None:
        """None if readers do not see it yet, too."""
        found = self._find_state()
        return found[1] if found is not None and self._current.is_shown(*found) else None

    def _must_be_rebuilt(self, store: Store) -> bool:
        found = self._find_state()
        if found is None:
            return True
        with store.reading() as connection:
            return not fits(connection, found[1])

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
        with self._current.locked(_REBUILD_TIMEOUT_S, self._rebuild_lock_file):
            if not is_needed(store):  # Another process has built it meanwhile.
                return
            remove_others(self.path)
            try:
                self._build(new_path(self.path), store, bar, is_wanted)
            finally:
                remove_others(self.path)

    def _build(
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
                self.applier.report(sentence)
            file.sync()
        finally:
            file.close()
        with self._current.locked():
            # Readers of this process open it as soon as it is current.
            file = open_shared(path)
            try:
                self.applier.apply(file, store)
                if is_wanted(file, damage):
                    make_current(path)
                    self._current.show(file)
            finally:
                file.close()

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
            current = self._current
            return NewReplica(file, at_ms, held.pop_all(), current.locked, current.show)

    def remove_leftovers(self) -> None:
        """Remove unfinished files of killed processes."""
        with file_lock(self._rebuild_lock_file, 0.0, self._program) as holder:
            if holder is None:
                remove_others(self.path)

    def close(self) -> None:
        """At the end, and before a fork: open files must not be used on both sides of it."""
        self._current.close()
