"""Projection: keeps the read model a picture of the store, change by change or all anew."""

import itertools
import sqlite3
from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np

from ..domain.errors import WriterBusy
from ..store import feed, widgets
from ..store.engine import Snapshot, Store, Transaction
from ..store.rows import Row
from . import document_tables as documents
from .rendering import Document, render
from .revision import Counts, Revision

T = TypeVar("T")
_BATCH = 500


class Projection:
    """Listens to a store on SQLite and writes its documents in the same transaction."""

    def __init__(self, revision: Revision, counts: Counts) -> None:
        self._revision = revision
        self._counts = counts

    draw = staticmethod(render)

    def saved(self, tx: Transaction, pictures: Sequence[tuple[int, Row]]) -> None:
        self._counts.reserve(max(number for number, _ in pictures))
        drawn = [(number, tx.at_ms, Document(*picture)) for number, picture in pictures]
        documents.put(sqlite_of(tx.connection), drawn)

    def committed(self, tx: Transaction) -> None:
        # Counts first: who sees the new revision must see the counts that belong to it.
        if tx.counts:
            self._counts.record(tx.counts.items())
        seq = tx.latest_seq
        if seq is None:
            # A writer that was killed right after its commit has left this to the next one.
            seq = documents.latest_seq(sqlite_of(tx.connection))
        self._revision.advance(seq)

    def prepare(self, store: Store, *, waits: bool = False) -> bool:
        """Make ready to serve: documents of this format, and counts and revision as stored.

        Documents of another format are worth waiting for. False: they are of this one, and as
        somebody else is writing, and it `waits` not, nothing was done.
        """
        with store.reading() as connection:
            is_readable = documents.is_of_this_format(sqlite_of(connection))
        try:
            with store.writing(waits=waits or not is_readable) as tx:
                if not documents.ensure_tables(sqlite_of(tx.connection)):
                    self._fill(tx)
                tx.counts |= self._wrong_counts(tx.connection)
                tx.latest_seq = feed.latest_seq(tx.connection)
        except WriterBusy:
            if not is_readable:
                raise
            return False
        return True

    def show_stored(self, store: Store) -> None:
        """Counts and revision as stored, without the lock: for a start that does not get it.

        No service writes them at that time; what a command may write meanwhile is newer, and is
        put right when there is the lock.
        """
        with store.reading() as connection:
            self._counts.record(self._wrong_counts(connection).items())
            self._revision.advance(max(self._revision.current(), feed.latest_seq(connection)))

    def ensure_format(self, store: Store) -> None:
        """Make documents of this format, if they are of another release or were discarded."""
        with store.reading() as connection:
            if documents.is_of_this_format(sqlite_of(connection)):
                return
        with store.writing() as tx:
            if not documents.ensure_tables(sqlite_of(tx.connection)):
                self._fill(tx)

    def mend_counts(self, store: Store) -> int:
        """State the counts as stored where memory has others; gives how many those were."""
        with store.reading() as connection:
            if not self._wrong_counts(connection):
                return 0
        # Counted just now, and not in memory yet? Under the lock there is no such moment.
        with store.writing() as tx:
            wrong = self._wrong_counts(tx.connection)
            tx.counts |= wrong
        return len(wrong)

    def _wrong_counts(self, connection: Snapshot) -> dict[int, int]:
        """The true counts of the widgets whose count in memory is another."""
        highest = widgets.highest_id(connection)
        self._counts.reserve(highest)
        stored = np.zeros(highest + 1, dtype=np.uint64)
        for ids, counts in documents.stream_counts(sqlite_of(connection)):
            stored[ids] = counts
        wrong = np.flatnonzero(self._counts.array[1 : highest + 1] != stored[1:]) + 1
        return dict(zip(wrong.tolist(), stored[wrong].tolist(), strict=True))

    def _fill(self, tx: Transaction) -> None:
        db = sqlite_of(tx.connection)
        changed_at = documents.change_times(db)
        documents.clear(db)
        for some in _batches(widgets.stream_widgets(tx.connection)):
            drawn = [(it.id, changed_at.get(it.id, tx.at_ms), render(it.widget)) for it in some]
            documents.put(db, drawn)


def sqlite_of(connection: Snapshot) -> sqlite3.Connection:
    driver_connection = connection.connection.driver_connection
    if not isinstance(driver_connection, sqlite3.Connection):
        raise TypeError("The projection writes along with a store on SQLite only.")
    return driver_connection


def _batches(items: Iterator[T]) -> Iterator[list[T]]:
    while batch := list(itertools.islice(items, _BATCH)):
        yield batch
