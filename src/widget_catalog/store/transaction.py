"""Transaction: a write to the store, and its listener."""

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from sqlalchemy.engine import Connection

from ..domain.widgets import Widget
from .pictures import NewCopy, Pictures
from .rows import Draw, Row

if TYPE_CHECKING:
    from .engine import Store


class Listener(Protocol):
    """Observes every write. The read model implements it."""

    @property
    def draw(self) -> Draw:
        """Draws a widget: to be kept with it, and made from nothing else."""

    def saving(self, highest_id: int) -> None:
        """Widgets with numbers up to this are saved; this is still inside their transaction."""

    def begin_copy(self, at_ms: int) -> NewCopy | None:
        """The widgets that were saved so far are all that there are, and many more are coming, at
        this time: a copy may be made of them, for `published`.
        """

    def committing(self, tx: "Write") -> None:
        """The transaction is about to be committed."""

    def committed(self, tx: "Write") -> None:
        """The transaction is committed, and the next writer has not begun."""

    def published(self, store: "Store", pictures: Pictures) -> None:
        """Readers must be shown what was committed. Others may be writing already."""

    def close(self) -> None:
        """Give back what is open; it is opened again when it is needed."""


class Write:
    """A write: its time, and what it has done so far."""

    dialect: str

    def __init__(self, at_ms: int, listener: Listener | None) -> None:
        self.at_ms = at_ms
        self.is_public = False
        self.is_mirroring = False
        self.counts: dict[int, int] = {}
        self._listener = listener

    def run(self, statement: str, values: tuple[Any, ...] = ()) -> Sequence[Sequence[Any]]:
        """Run SQL text of the database's own dialect; gives all rows."""
        raise NotImplementedError

    def tells_readers(self) -> None:
        """This changes what the public is shown."""
        self.is_public = True

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
        pictures: Pictures,
        *,
        is_publishing: bool = False,
    ) -> None:
        super().__init__(at_ms, listener)
        self.connection = connection
        self.dialect = connection.dialect.name
        self.is_publishing = is_publishing
        self.pictures = pictures
        # Whether no widget was there before this transaction.
        self._was_empty = False

    def run(self, statement: str, values: tuple[Any, ...] = ()) -> Sequence[Sequence[Any]]:
        result = self.connection.exec_driver_sql(statement, values)
        return result.all() if result.returns_rows else ()

    @property
    def draw(self) -> Draw:
        return draw_nothing if self._listener is None else self._listener.draw

    def saved(
        self,
        pictures: Sequence[tuple[int, bytes | Row]],
        latest_seq: int,
        *,
        are_first: bool = False,
    ) -> None:
        """Widgets were saved, and the feed ends here now. `pictures` were drawn by `draw`.
        `are_first`: there was no widget before these.
        """
        self.tells_readers()
        self._was_empty = self._was_empty or are_first
        if self._listener is not None:
            self._listener.saving(max(number for number, _ in pictures))
            self.pictures.add(latest_seq, pictures)
            if self.pictures.are_too_many:
                begins = self._was_empty
                self.pictures.move_out(self._listener.begin_copy(self.at_ms) if begins else None)


class SqliteWrite(Write):
    """Directly on the driver."""

    dialect = "sqlite"

    def __init__(self, driver: sqlite3.Connection, at_ms: int, listener: Listener | None) -> None:
        super().__init__(at_ms, listener)
        self._driver = driver

    def run(self, statement: str, values: tuple[Any, ...] = ()) -> Sequence[Sequence[Any]]:
        return self._driver.execute(statement, values).fetchall()


def draw_nothing(_widget: Widget) -> bytes:
    """If nobody applies what is written, or others do, who then render it."""
    return b""
