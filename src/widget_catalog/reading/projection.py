"""Projection: keeps the read model a picture of the store, change by change or all anew."""

import itertools
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from ..store import changes, widgets
from ..store.engine import Store, Transaction
from ..store.rows import Row
from . import document_tables as documents
from .rendering import Document, render
from .revision import Counts, Revision

T = TypeVar("T")
Progress = Callable[[int], None]

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
        documents.put(_sqlite(tx), drawn)

    def committed(self, tx: Transaction) -> None:
        # Counts first: who sees the new revision must see the counts that belong to it.
        if tx.counts:
            self._counts.record(tx.counts.items())
        seq = tx.latest_seq
        if seq is None:
            # A writer that was killed right after its commit has left this to the next one.
            seq = documents.latest_seq(_sqlite(tx))
        self._revision.advance(seq)

    def prepare(self, store: Store) -> None:
        """Make ready to serve: documents of this format, and counts and revision as stored."""
        with store.writing() as tx:
            if not documents.ensure_tables(_sqlite(tx)):
                self._fill(tx)
            tx.counts |= self._wrong_counts(tx)
            tx.latest_seq = changes.latest_seq(tx.connection)

    def rebuild(self, store: Store, progress: Progress = lambda _: None) -> int:
        """Render every document again from the truth; gives how many differed.

        Those are written anew and go to the feed, so that every worker sees them at once.
        """
        differed = 0
        with store.writing() as tx:
            db = _sqlite(tx)
            if not documents.ensure_tables(db):
                self._fill(tx)  # Of another release: that is not a fault.
            for some in _batches(widgets.stream_widgets(tx.connection)):
                known = documents.get_documents(db, [it.id for it in some])
                wrong = [it for it in some if known.get(it.id) != render(it.widget)]
                if wrong:
                    differed += len(wrong)
                    seq = changes.append(tx, [(it.id, str(it.widget.scope)) for it in wrong])
                    tx.saved([(it.id, render(it.widget)) for it in wrong], seq)
                progress(len(some))
            differed += documents.remove_strangers(db)
            documents.stamp(db)
            wrong_counts = self._wrong_counts(tx)
            tx.counts |= wrong_counts
        return differed + len(wrong_counts)

    def _wrong_counts(self, tx: Transaction) -> dict[int, int]:
        """The true counts of the widgets whose count in memory is another."""
        highest = widgets.highest_id(tx.connection)
        self._counts.reserve(highest)
        stored = np.zeros(highest + 1, dtype=np.uint64)
        for ids, counts in documents.stream_counts(_sqlite(tx)):
            stored[ids] = counts
        wrong = np.flatnonzero(self._counts.array[1 : highest + 1] != stored[1:]) + 1
        return dict(zip(wrong.tolist(), stored[wrong].tolist(), strict=True))

    def _fill(self, tx: Transaction) -> None:
        db = _sqlite(tx)
        changed_at = documents.change_times(db)
        documents.clear(db)
        for some in _batches(widgets.stream_widgets(tx.connection)):
            drawn = [(it.id, changed_at.get(it.id, tx.at_ms), render(it.widget)) for it in some]
            documents.put(db, drawn)


def _sqlite(tx: Transaction) -> sqlite3.Connection:
    connection = tx.connection.connection.driver_connection
    if not isinstance(connection, sqlite3.Connection):
        raise TypeError("The projection writes along with a store on SQLite only.")
    return connection


def _batches(items: Iterator[T]) -> Iterator[list[T]]:
    while batch := list(itertools.islice(items, _BATCH)):
        yield batch
