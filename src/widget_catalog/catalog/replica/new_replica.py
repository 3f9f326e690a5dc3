"""NewReplica: the replica of a catalog that was empty, built while its widgets are imported.

It is complete before the import is committed, and replaces the old file right after the commit,
before another writer or reader can find the old one outdated. If the import fails, the file is
removed; if the process is killed, the old file is still valid, and the next start removes this one.
"""

import contextlib
from collections.abc import Callable
from typing import cast

import msgspec
import structlog

from ...core.db.engine import Snapshot
from ...core.db.transaction import PreparedBatch
from ...core.errors import StoreUnavailable
from ..store import feed
from .encoding import Records, decode_prepared, numbered
from .file import ReplicaFile, make_current, remove_others
from .filling import fill_changes
from .mapped_memory import release_mapped
from .writing import ReplicaWriter

# Widgets and bytes per transaction: each transaction rewrites most pages of the tables by key, and
# keeps what it has written in memory.
_AT_ONCE = 5_000
_MAX_BYTES = 32 << 20

_log = structlog.get_logger("widget_catalog.replica")


class NewReplica:
    """Errors are logged, not raised: without it, `apply` reads the changes from the store."""

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
            for number, it in prepared:
                packed = cast(bytes, it)
                self._add(numbered(decode_prepared(packed), number, self._at_ms), len(packed))
        except (msgspec.DecodeError, TypeError):  # Prepared by another release.
            self.close()
        except StoreUnavailable as fault:
            self._give_up(fault)

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
        except StoreUnavailable as fault:
            self._give_up(fault)

    def use(self) -> None:
        if not self._is_open:
            return
        try:
            make_current(self._file.path)
            self._show(self._file)
        except StoreUnavailable as fault:
            self._give_up(fault)
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

    def _give_up(self, fault: StoreUnavailable) -> None:
        _log.warning("The read model is updated after the import.", fault=fault.message)
        self.close()

    def _add(self, it: Records, size_bytes: int) -> None:
        if it.id > self._highest_id:
            self._new.append(it)
            self._highest_id = it.id
        else:
            self._again[it.id] = it
        self._bytes += size_bytes
        if len(self._new) + len(self._again) >= _AT_ONCE or self._bytes >= _MAX_BYTES:
            self._flush()

    def _flush(self) -> None:
        for records, is_new in ((self._new, True), (self._again.values(), False)):
            if records:
                with self._file.writing() as transaction:
                    writer = ReplicaWriter(self._file, transaction, is_new=is_new)
                    for it in records:
                        writer.put(it)
                    writer.finish()
        self._new, self._again, self._bytes = [], {}, 0
        release_mapped(self._file.path.parent)
