"""Transaction: a write to the store, its listener, and the prepared records of the widgets saved in
it, kept until they are applied.

Those of a large import do not fit into memory. If the catalog was empty before, they go into a copy
of it that the listener builds meanwhile, otherwise into an anonymous temporary file.
"""

import contextlib
import marshal
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Protocol

from sqlalchemy.engine import Connection

if TYPE_CHECKING:
    from .engine import Store


Row = tuple[Any, ...]

_MAX_BYTES = 16 << 20


class PreparedBatch(NamedTuple):
    """Numbers of widgets and their records, valid when the feed had reached `latest_seq`."""

    latest_seq: int
    records: list[tuple[int, bytes | Row]]


class NewCopy(Protocol):
    """A copy built from all widgets of a catalog, while they are saved."""

    def add(self, batch: PreparedBatch) -> None:
        """Widgets are added in the order of their numbers; one may be repeated later."""

    def complete(self, connection: Connection) -> None:
        """Everything was added, and the transaction on this connection is about to be committed."""

    def use(self) -> None:
        """Committed, and the next writer has not started: readers use this copy from now on."""

    def close(self) -> None:
        """Remove it unless it is in use by then."""


class PreparedRecords:
    """In the order of the feed. If there is a `copy`, all of them are in it, and none here."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._kept: list[PreparedBatch] = []
        self._size = 0
        self._file: IO[bytes] | None = None
        self.copy: NewCopy | None = None

    def add(self, latest_seq: int, records: Sequence[tuple[int, bytes | Row]]) -> None:
        batch = PreparedBatch(latest_seq, list(records))
        if self.copy is not None:
            self.copy.add(batch)
        elif self._file is not None:
            marshal.dump(tuple(batch), self._file)
        else:
            self._kept.append(batch)
            self._size += sum(len(it) for _, it in batch.records)

    @property
    def are_too_many(self) -> bool:
        """Whether they must be moved out of memory."""
        return self._size > _MAX_BYTES

    def move_out(self, copy: NewCopy | None) -> None:
        """Into this copy, or otherwise into a file; further ones are added there."""
        self.copy, kept = copy, self._kept
        self._kept, self._size = [], 0
        if copy is None:
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115
        for it in kept:
            self.add(*it)

    def __iter__(self) -> Iterator[PreparedBatch]:
        if self._file is None:
            yield from self._kept
            return
        self._file.seek(0)
        while True:
            try:
                yield PreparedBatch(*marshal.load(self._file))  # noqa: S302
            except EOFError:
                return

    def close(self) -> None:
        self._kept.clear()
        if self._file is not None:
            with contextlib.suppress(OSError):  # The disk is full: the rest cannot be written.
                self._file.close()
        if self.copy is not None:
            self.copy.close()


Prepare = Callable[[Any], bytes]
"""Prepares the records of a widget for the listener. What a widget is, only the catalog knows."""


class Listener(Protocol):
    """Observes every write. The read model implements it."""

    @property
    def prepare(self) -> Prepare:
        """The prepared records of a widget, derived from it alone."""

    def saving(self, highest_id: int) -> None:
        """Widgets with numbers up to this are being saved, inside this transaction."""

    def begin_copy(self, at_ms: int) -> NewCopy | None:
        """All existing widgets were saved in this transaction, and many more follow, at this time:
        a copy may be built from them.
        """

    def committing(self, tx: "Write") -> None:
        """The transaction is about to be committed."""

    def committed(self, tx: "Write") -> None:
        """The transaction is committed, and the next writer has not started."""

    def published(self, store: "Store", prepared: PreparedRecords) -> None:
        """The committed changes must become visible. Other writers may already be active."""

    def close(self) -> None:
        """Close open resources; they are opened again when needed."""


class Write:
    """A write: its time, and what it has done so far."""

    dialect: str

    def __init__(self, at_ms: int, listener: Listener | None) -> None:
        self.at_ms = at_ms
        self.is_public = False
        self.wakes_nodes = False
        self.is_mirroring = False
        self.counts: dict[int, int] = {}
        self._listener = listener

    def run(self, statement: str, values: tuple[Any, ...] = ()) -> Sequence[Sequence[Any]]:
        """Run SQL text in the database's own dialect; returns all rows."""
        raise NotImplementedError

    def mark_public(self) -> None:
        """This write changes public data."""
        self.is_public = self.wakes_nodes = True

    def wake_nodes(self) -> None:
        """Notify all nodes of this write, which is not about public data."""
        self.wakes_nodes = True

    def committing(self) -> None:
        if self._listener is not None:
            self._listener.committing(self)

    def committed(self) -> None:
        if self._listener is not None:
            self._listener.committed(self)


class Transaction(Write):
    """With SQLAlchemy, used by all writes except counts."""

    def __init__(
        self,
        connection: Connection,
        at_ms: int,
        listener: Listener | None,
        prepared: PreparedRecords,
        *,
        is_publishing: bool = False,
    ) -> None:
        super().__init__(at_ms, listener)
        self.connection = connection
        self.dialect = connection.dialect.name
        self.is_publishing = is_publishing
        self.prepared = prepared
        # Whether there was no widget before this transaction.
        self._was_empty = False

    def run(self, statement: str, values: tuple[Any, ...] = ()) -> Sequence[Sequence[Any]]:
        result = self.connection.exec_driver_sql(statement, values)
        return result.all() if result.returns_rows else ()

    def committing(self) -> None:
        super().committing()
        if self.prepared.copy is not None:
            self.prepared.copy.complete(self.connection)

    def committed(self) -> None:
        if self.prepared.copy is not None:
            self.prepared.copy.use()
        super().committed()

    @property
    def prepare(self) -> Prepare:
        return prepare_nothing if self._listener is None else self._listener.prepare

    def saved(
        self,
        records: Sequence[tuple[int, bytes | Row]],
        latest_seq: int,
        *,
        are_first: bool = False,
    ) -> None:
        """Widgets were saved, and the feed now ends here. `records` were prepared by `prepare`.
        `are_first`: there was no widget before these.
        """
        self.mark_public()
        self._was_empty = self._was_empty or are_first
        if self._listener is not None:
            self._listener.saving(max(number for number, _ in records))
            self.prepared.add(latest_seq, records)
            if self.prepared.are_too_many:
                copy = self._listener.begin_copy(self.at_ms) if self._was_empty else None
                self.prepared.move_out(copy)


class SqliteWrite(Write):
    """Directly on the driver."""

    dialect = "sqlite"

    def __init__(self, driver: sqlite3.Connection, at_ms: int, listener: Listener | None) -> None:
        super().__init__(at_ms, listener)
        self._driver = driver

    def run(self, statement: str, values: tuple[Any, ...] = ()) -> Sequence[Sequence[Any]]:
        return self._driver.execute(statement, values).fetchall()


def prepare_nothing(_widget: object) -> bytes:
    """For writers that do not apply their changes: whoever does renders them."""
    return b""
