"""ReplicaReader: reads widgets, changes and index rows from the replica.

Every read is verified: data that is damaged, or missing although it is known to exist, raises
DataDamaged.
"""

import struct
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TypeAlias

import lmdb
import numpy as np

from ...core.errors import DataDamaged, StoreUnavailable
from ...core.http.content import MAX_INLINE_BYTES
from .file import ReplicaFile, ReplicaState, find_current, named, open_current
from .ordinals import Array
from .records import (
    CHANGE,
    KEYS,
    LISTED,
    LOST,
    SCOPE,
    SEAL_BYTES,
    DocumentRecord,
    damaged,
    decode_index_row,
    index_columns,
    key_of,
    lost,
    member_key,
    number_key,
    read_key,
    unseal,
)
from .rows import ChangeRow, IndexColumns, IndexRow, SummaryRow

Reading: TypeAlias = "lmdb.Transaction[memoryview]"

_MAX_IN_A_SMALL_REGISTRY = 64
_ROWS_AT_ONCE = 5_000


class ReplicaReader:
    """Every call sees the newest state; inside `with snapshot()`, all calls see the same."""

    def __init__(self, path: Path) -> None:
        """`path` is the replica's folder. Raises DataDamaged if there is none."""
        self.path = path
        opened = open_current(path)
        if opened is None:
            raise damaged("all")
        self.file: ReplicaFile = opened
        self._snapshot = _Snapshot(self)

    def close(self) -> None:
        self._snapshot.is_closed = True
        self.file.close()

    def snapshot(self) -> "_Snapshot":
        return self._snapshot

    def reopen_if_replaced(self) -> None:
        """Switch to the current file if the open one was replaced; not inside a snapshot."""
        if self._snapshot.is_open:
            return
        path = find_current(self.path)
        if path is not None and path != self.file.path:
            opened = open_current(self.path)
            if opened is not None:
                self.file.close()
                self.file = opened

    @property
    def identity(self) -> str:
        """Identifies the file: another one may differ in other ways than the feed says."""
        return self.file.id

    def state(self) -> ReplicaState:
        with self._snapshot as reading:
            return self.file.state(reading)

    def check(self) -> None:
        """Raises StoreUnavailable if the file cannot be read."""
        self.state()

    def find(self, reading: Reading, key: str) -> DocumentRecord | None:
        """The document of the widget with this `scope/name`; None if there is no such widget.

        It is a view of the file, valid for the duration of the snapshot.
        """
        file = self.file
        name = key.replace("/", "\0").encode()
        found = reading.get(name, db=file.keys)
        if found is None:
            self.require_unknown(reading, name, f"the document of {key}")
            return None
        widget_id, flags = read_key(name, found)
        if flags & LOST:
            raise lost(f"the widget {key}")
        return self.document(reading, widget_id)

    def find_styles(self, key: str) -> bytes:
        """The style sheets of a widget's versions as JSON; nothing if there are none."""
        with self._snapshot as reading:
            record = self.find(reading, key)
            return b"" if record is None else record.styles

    def require_unknown(self, reading: Reading, key: bytes, what: str) -> None:
        """A missing key is unknown, or lost; every key is in two tables."""
        if reading.get(member_key(key), db=self.file.members) is not None:
            raise damaged(what)

    def document(self, reading: Reading, widget_id: int) -> DocumentRecord:
        """The document of an existing widget, by its number."""
        found = reading.get(number_key(widget_id), db=self.file.documents)
        if found is None:
            raise damaged(f"the document of widget {widget_id}")
        return DocumentRecord(widget_id, found)

    def list_summaries(self, ids: Sequence[int]) -> list[SummaryRow]:
        """The summaries of all these widgets."""
        with self._snapshot as reading:
            return [self.document(reading, it).summary for it in ids]

    def stream_registry(self, scope: str) -> Iterator[DocumentRecord]:
        """The listed widgets of a scope, by name. Inside a snapshot."""
        with self._snapshot as reading:
            count = 0
            for widget_id, flags in self._keys_in(reading, scope):
                count += 1
                if flags & LOST:
                    raise lost(f"a widget of {scope}")
                if flags & LISTED:
                    yield self.document(reading, widget_id)
            known = self._scope(reading, scope)
            if known is None or count != known[1]:
                raise damaged(f"the registry of {scope}")

    def is_registry_large(self, scope: str) -> bool:
        """Whether the event loop should not read this registry."""
        with self._snapshot as reading:
            count = size = 0
            for widget_id, flags in self._keys_in(reading, scope):
                if flags & LISTED:
                    count += 1
                    found = reading.get(number_key(widget_id), db=self.file.documents)
                    size += 0 if found is None else len(found)
                    if count > _MAX_IN_A_SMALL_REGISTRY or size > MAX_INLINE_BYTES:
                        return True
            return False

    def find_scope_change(self, scope: str) -> int | None:
        """When anything in this scope last changed, in milliseconds; None if there is no such
        scope.
        """
        with self._snapshot as reading:
            if found := self._scope(reading, scope):
                return found[0]
            self.require_unknown(reading, scope.encode(), f"the registry of {scope}")
            return None

    def _scope(self, reading: Reading, scope: str) -> tuple[int, int] | None:
        key = scope.encode()
        found = reading.get(key, db=self.file.scopes)
        if found is None:
            return None
        changed_at, count = SCOPE.unpack(unseal(key, found, f"the registry of {scope}"))
        return changed_at, count

    def _keys_in(self, reading: Reading, scope: str) -> Iterator[tuple[int, int]]:
        prefix = f"{scope}\0".encode()
        with reading.cursor(self.file.keys) as cursor:
            is_found = cursor.set_range(prefix)
            while is_found and bytes(cursor.key()).startswith(prefix):
                yield read_key(cursor.key(), cursor.value())
                is_found = cursor.next()

    # The applied end of the feed

    def latest_seq(self) -> int:
        return self.state().seq

    def is_importing(self) -> bool:
        """Whether an accepted import is being written."""
        return self.state().is_importing

    def list_changes(self, after: int) -> list[ChangeRow] | None:
        """Every change after this one, oldest first; None if they are no longer retained."""
        with self._snapshot as reading, reading.cursor(self.file.changes) as cursor:
            newest = self.file.state(reading).seq
            if newest <= after:
                return []
            rows = []
            is_found = cursor.set_range(number_key(after + 1))
            while is_found:
                rows.append(read_change(cursor.key(), cursor.value()))
                is_found = cursor.next()
            is_whole = [it and it.seq for it in rows] == list(range(after + 1, newest + 1))
            return [it for it in rows if it is not None] if is_whole else None

    def list_scattered_changes(self, after: int, most: int) -> list[int]:
        """The numbers of widgets that changed after this, only from transactions with at most this
        many.
        """
        with self._snapshot as reading, reading.cursor(self.file.changes) as cursor:
            if not cursor.set_range(number_key(after + 1)):
                return []
            values = cursor.iternext(keys=False, values=True)
            starts = [it[SEAL_BYTES : SEAL_BYTES + CHANGE.size] for it in values]
        heads = np.frombuffer(b"".join(starts), "<i8")
        ids, changed_at = heads[::2], heads[1::2]
        times, counts = np.unique(changed_at, return_counts=True)
        scattered: list[int] = ids[np.isin(changed_at, times[counts <= most])].tolist()
        return scattered

    # Input of the search index

    def highest_id(self) -> int:
        """The largest number of a widget; numbers are dense, so this approximates the number of
        widgets.
        """
        with self._snapshot as reading, reading.cursor(self.file.index_rows) as cursor:
            return int.from_bytes(cursor.key(), "big") if cursor.last() else 0

    def stream_index_columns(self) -> Iterator[IndexColumns]:
        """Every listed widget by number, some thousand at a time."""
        with self._snapshot as reading, reading.cursor(self.file.index_rows) as cursor:
            if not cursor.first():
                return
            every = cursor.iternext()
            while some := [(bytes(key), bytes(it)) for key, it in islice(every, _ROWS_AT_ONCE)]:
                columns = index_columns(some)
                if len(columns.ids):
                    yield columns

    def check_records(self) -> None:
        """Raises DataDamaged if any record is not what was written."""
        with self._snapshot as reading:
            for table in self.file.sealed:
                for key, record in reading.cursor(table):
                    unseal(key, record, "a record")

    def check_index_rows(self) -> None:
        """Raises DataDamaged if the search index cannot be built from the index rows."""
        listed = sum(len(some.ids) for some in self.stream_index_columns())
        if listed != len(self.list_ids_by_name()):
            raise damaged("the table of names")

    def list_index_rows(self, ids: Sequence[int]) -> list[IndexRow]:
        """The index rows of those of these widgets that are listed."""
        with self._snapshot as reading:
            found = (self.find_index_row(reading, it) for it in ids)
            return [it for it in found if it is not None and it.is_listed]

    def find_index_row(self, reading: Reading, widget_id: int) -> IndexRow | None:
        number = number_key(widget_id)
        found = reading.get(number, db=self.file.index_rows)
        return None if found is None else decode_index_row(number, found)

    def list_ids_by_name(self) -> Array:
        """The numbers of all listed widgets, by scope and name."""
        with self._snapshot as reading, reading.cursor(self.file.keys) as cursor:
            found = np.frombuffer(b"".join(cursor.iternext(keys=False, values=True)), KEYS)
            listed: Array = found["id"][found["flags"] & LISTED != 0]
            return np.ascontiguousarray(listed)

    def find_id_before(self, scope: str, name: str) -> int | None:
        """The listed widget just before this position by scope and name."""
        with self._snapshot as reading, reading.cursor(self.file.keys) as cursor:
            has_later = cursor.set_range(key_of(scope, name))
            is_found = cursor.prev() if has_later else cursor.last()
            while is_found:
                widget_id, flags = read_key(cursor.key(), cursor.value())
                if flags & LISTED:
                    return int(widget_id)
                is_found = cursor.prev()
            return None


class _Snapshot:
    """A read transaction, started by the outermost `with` and ended by it. None is held in
    between: it would prevent free pages from being reused.
    """

    __slots__ = ("_depth", "_of", "_transaction", "is_closed")

    def __init__(self, of: ReplicaReader) -> None:
        self._of = of
        self.is_closed = False
        self._depth = 0
        self._transaction: Reading | None = None

    @property
    def is_open(self) -> bool:
        return self._depth > 0

    def __enter__(self) -> Reading:
        transaction = self._transaction
        if transaction is None:
            if self.is_closed:
                raise StoreUnavailable("The read model is closed.")
            try:
                transaction = self._transaction = self._of.file.reading()
            except lmdb.Error as error:
                raise named(error) from error
        self._depth += 1
        return transaction

    def __exit__(
        self,
        _type: type[BaseException] | None,
        error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._depth -= 1
        if not self._depth and self._transaction is not None:
            transaction, self._transaction = self._transaction, None
            transaction.abort()
        if isinstance(error, lmdb.Error):
            raise named(error) from error
        if isinstance(error, struct.error):  # The record is truncated.
            raise damaged("something") from error


def read_change(key: memoryview, value: memoryview) -> ChangeRow | None:
    """None: it is damaged, and all caches must be cleared."""
    try:
        content = unseal(key, value, "a change")
    except (DataDamaged, struct.error):
        return None
    widget_id, changed_at = CHANGE.unpack_from(content)
    scope, name, kind, version = bytes(content[CHANGE.size :]).decode().split("\0")
    seq = int.from_bytes(key, "big")
    return ChangeRow(seq, widget_id, scope, name, changed_at, kind, version or None)
