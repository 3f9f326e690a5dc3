"""ReplicaWriter: writes widgets and changes to the replica's tables, inside one transaction."""

import contextlib
from collections.abc import Iterable, Sequence

import lmdb
import msgspec

from ...core.db.prepared import PreparedBatch
from ..store.feed import StoredChange
from .encoding import Records, decode_prepared
from .file import ReplicaFile, ReplicaState
from .records import (
    CHANGE,
    KEY,
    LISTED,
    LOST,
    SCOPE,
    decode_index_row,
    key_of,
    member_key,
    number_key,
    seal,
    unseal,
    version_key,
)

# A worker that is further behind than this drops all its caches.
KEPT_CHANGES = 50_000


class ReplicaWriter:
    """`finish` must be called at the end."""

    def __init__(
        self, file: ReplicaFile, transaction: "lmdb.Transaction[bytes]", *, is_new: bool = False
    ) -> None:
        """In a new file, widgets are added in the order of their numbers, each once."""
        self._file = file
        self._transaction = transaction
        self._is_new = is_new
        # When each affected scope last changed, and its number of widgets.
        self._scopes: dict[str, tuple[int, int]] = {}
        self._keys: dict[int, bytes] = {}
        # In a new file: by key, because adjacent keys are written faster.
        self._leading: dict[bytes, bytes] = {}

    def put(self, records: Records) -> None:
        """Replaces existing records."""
        number, put, file = number_key(records.id), self._transaction.put, self._file
        put(number, seal(number, records.index_row), append=self._is_new, db=file.index_rows)
        put(number, seal(number, records.document), append=self._is_new, db=file.documents)
        self._put_key(
            records.id,
            records.scope,
            records.name,
            LISTED if records.is_listed else 0,
            records.changed_at,
        )
        for identity, extras in records.extras:
            key = version_key(records.id, identity)
            sealed = seal(key, extras)
            # An existing one is nearly always the same: what a version declares never changes, and
            # only a mirror gets its files later, when it is no longer revoked.
            is_new = put(key, sealed, overwrite=False, db=file.extras)
            if not is_new and self._transaction.get(key, db=file.extras) != sealed:
                put(key, sealed, db=file.extras)
        if records.revocations:
            put(number, seal(number, records.revocations), db=file.revocations)
        elif not self._is_new:
            self._transaction.delete(number, db=file.revocations)

    def put_lost(self, widget_id: int, scope: str, name: str) -> None:
        """A widget whose rows in the store are damaged."""
        self._put_key(widget_id, scope, name, LOST, changed_at=0)

    def note(self, changes: Sequence[StoredChange]) -> None:
        """Add these changes for readers; of very many, only the newest."""
        for change in changes[-KEPT_CHANGES:]:
            key = self._keys.get(change.widget_id) or self._key_of(change.widget_id)
            happened = f"\0{change.kind}\0{change.version or ''}".encode()
            value = CHANGE.pack(change.widget_id, change.changed_at) + key + happened
            seq = number_key(change.seq)
            self._transaction.put(seq, seal(seq, value), db=self._file.changes)
        if changes:
            self._forget_before(changes[-1].seq - KEPT_CHANGES)

    def finish(self, state: ReplicaState | None = None) -> None:
        put, file = self._transaction.put, self._file
        for key in sorted(self._leading):
            put(key, self._leading[key], db=file.keys)
        for member in sorted(map(member_key, self._leading)):
            put(member, b"", db=file.members)
        for scope, (changed_at, count) in self._scopes.items():
            key = scope.encode()
            value = seal(key, SCOPE.pack(changed_at, count))
            self._transaction.put(key, value, db=self._file.scopes)
            self._transaction.put(member_key(key), b"", db=self._file.members)
        if state is not None:
            self._file.put_state(self._transaction, state)

    def _put_key(self, widget_id: int, scope: str, name: str, flags: int, changed_at: int) -> None:
        put, file = self._transaction.put, self._file
        key = key_of(scope, name)
        value = seal(key, KEY.pack(widget_id, flags))
        self._keys[widget_id] = key
        is_added = True
        if self._is_new:
            self._leading[key] = value
        elif put(key, value, overwrite=False, db=file.keys):
            put(member_key(key), b"", db=file.members)
        else:
            put(key, value, db=file.keys)
            is_added = False
        before, count = self._scopes.get(scope) or self._scope(scope)
        self._scopes[scope] = max(before, changed_at), count + is_added

    def _scope(self, scope: str) -> tuple[int, int]:
        key = scope.encode()
        found = self._transaction.get(key, db=self._file.scopes)
        if found is None:
            return 0, 0
        changed_at, count = SCOPE.unpack(unseal(key, found, f"the registry of {scope}"))
        return changed_at, count

    def _key_of(self, widget_id: int) -> bytes:
        """The key of a widget that was not written, because it is damaged in the store."""
        number = number_key(widget_id)
        found = self._transaction.get(number, db=self._file.index_rows)
        if found is None:
            return b"\0"
        row = decode_index_row(number, found)
        return key_of(row.scope, row.name)

    def _forget_before(self, seq: int) -> None:
        with self._transaction.cursor(self._file.changes) as cursor:
            is_found = cursor.first()
            while is_found and int.from_bytes(cursor.key(), "big") <= seq:
                is_found = cursor.delete() and cursor.first()


class PreparedReader:
    """Prepared records of a writer, each used unless the feed has a newer change of that widget."""

    def __init__(self, batches: Iterable[PreparedBatch]) -> None:
        self._batches = iter(batches)
        self._read: list[PreparedBatch] = []

    def take(self, latest: dict[int, int], until: int) -> dict[int, Records]:
        """The prepared records of the widgets with these latest changes, up to this one."""
        while not self._read or self._read[-1].latest_seq < until:
            batch = next(self._batches, None)
            if batch is None:
                break
            self._read.append(batch)
        found: dict[int, Records] = {}
        for seq, records in self._read:
            for widget_id, prepared in records:
                if isinstance(prepared, bytes) and latest.get(widget_id, seq + 1) <= seq:
                    # Records prepared by an older release are encoded again.
                    with contextlib.suppress(msgspec.DecodeError):
                        found[widget_id] = decode_prepared(prepared)
        self._read = [it for it in self._read if it.latest_seq > until]
        return found
