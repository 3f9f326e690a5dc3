"""Write and Transaction: what a write to the store has done so far, and the listener it tells."""

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from sqlalchemy.engine import Connection

from .prepared import NewCopy, PreparedRecords, Row

Prepare = Callable[[Any], bytes]
"""Prepares the records of a widget for the listener. What a widget is, only the catalog knows."""


class WriteListener(Protocol):
    """Observes what a write does, inside its transaction."""

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


class Write:
    """A write: its time, and what it has done so far."""

    dialect: str

    def __init__(self, at_ms: int, listener: WriteListener | None) -> None:
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
        listener: WriteListener | None,
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

    def __init__(
        self, driver: sqlite3.Connection, at_ms: int, listener: WriteListener | None
    ) -> None:
        super().__init__(at_ms, listener)
        self._driver = driver

    def run(self, statement: str, values: tuple[Any, ...] = ()) -> Sequence[Sequence[Any]]:
        return self._driver.execute(statement, values).fetchall()


def prepare_nothing(_widget: object) -> bytes:
    """For writers that do not apply their changes: whoever does renders them."""
    return b""
