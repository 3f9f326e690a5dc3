"""NewReplica: the replica of a catalog that was empty, built while its widgets are imported.

When the import is committed, the new file replaces the old one, as after a rebuild. If it is not,
or if the process is killed, the file is removed, and the old one is still valid.
"""

import contextlib
from typing import cast

import msgspec

from ..store import feed
from ..store.engine import Store
from ..store.prepared import PreparedBatch
from .encoding import Records, decode_prepared, numbered
from .file import ReplicaFile, remove_others
from .filling import fill_changes
from .mapped_memory import release_mapped
from .writing import ReplicaWriter

# Widgets per transaction: each transaction rewrites most pages of the tables by key.
_AT_ONCE = 5_000


class NewReplica:
    def __init__(self, file: ReplicaFile, at_ms: int, lock: contextlib.ExitStack) -> None:
        """All widgets change at this time. `lock` is the held lock for building a new file."""
        self.path = file.path
        self._file = file
        self._at_ms = at_ms
        self._lock = lock
        self._new: list[Records] = []
        self._highest_id = 0
        self._latest_seq = 0
        self._is_whole = True
        self._is_open = True

    def add(self, batch: PreparedBatch) -> None:
        self._latest_seq, prepared = batch
        try:
            records = [
                numbered(decode_prepared(cast(bytes, it)), number, self._at_ms)
                for number, it in prepared
            ]
        except (msgspec.DecodeError, TypeError):  # Prepared by another release.
            self._is_whole = False
            return
        if records[0].id > self._highest_id:
            self._new += records
            self._highest_id = records[-1].id
        else:
            self._put_new()
            self._put(records, is_new=False)
        if len(self._new) >= _AT_ONCE:
            self._put_new()

    def finish(self, store: Store) -> bool:
        """After the commit. False if it cannot be used."""
        if not self._is_whole:
            return False
        self._put_new()
        with store.reading() as connection:
            fill_changes(self._file, connection, feed.find_change(connection, self._latest_seq))
        self._file.sync()
        self._close_file()
        return True

    def close(self) -> None:
        self._close_file()
        remove_others(self.path.parent)
        self._lock.close()

    def _put_new(self) -> None:
        records, self._new = self._new, []
        self._put(records, is_new=True)

    def _put(self, records: list[Records], *, is_new: bool) -> None:
        with self._file.writing() as transaction:
            writer = ReplicaWriter(self._file, transaction, is_new=is_new)
            for it in records:
                writer.put(it)
            writer.finish()
        release_mapped(self.path.parent)

    def _close_file(self) -> None:
        if self._is_open:
            self._is_open = False
            self._file.close()
