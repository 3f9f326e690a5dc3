"""Projection: keeps the read model a picture of the store, change by change or all anew."""

import itertools
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from ..store import changes, downloads, widgets
from ..store.engine import Store, Transaction
from ..store.rows import StoredWidget
from . import documents
from .rendering import render
from .revision import Counts, Revision

T = TypeVar("T")

_BATCH = 500


class Projection:
    """Listens to a store on SQLite and writes its documents in the same transaction."""

    def __init__(self, revision: Revision, counts: Counts) -> None:
        self._revision = revision
        self._counts = counts

    def saved(self, tx: Transaction, saved: Sequence[StoredWidget]) -> None:
        self._counts.reserve(max(it.id for it in saved))
        documents.put(_sqlite(tx), [render(it, tx.at_ms) for it in saved])

    def committed(self, tx: Transaction) -> None:
        # Counts first: who sees the new revision must see the counts that belong to it.
        if tx.counts:
            self._counts.record(tx.counts.items())
        if tx.latest_seq is not None:
            self._revision.advance(tx.latest_seq)

    def prepare(self, store: Store) -> None:
        """Make ready to serve: documents of this format, and counts and revision as stored."""
        with store.writing() as tx:
            if not documents.ensure_tables(_sqlite(tx)):
                self._fill(tx)
            self._counts.reserve(widgets.highest_id(tx.connection))
            self._counts.record(downloads.stream_counts(tx.connection))
            tx.latest_seq = changes.latest_seq(tx.connection)

    def rebuild(self, store: Store, progress: Callable[[int], None] = lambda _: None) -> bool:
        """Render every document again from the truth. True if any differed."""
        with store.writing() as tx:
            db = _sqlite(tx)
            documents.ensure_tables(db)
            before = documents.digest(db)
            self._fill(tx, progress)
            stored = dict(downloads.stream_counts(tx.connection))
            counts_differ = any(self._counts.slots[key] != stored[key] for key in stored)
            tx.counts |= stored
            tx.latest_seq = changes.latest_seq(tx.connection)
            return counts_differ or documents.digest(db) != before

    def _fill(self, tx: Transaction, progress: Callable[[int], None] = lambda _: None) -> None:
        db = _sqlite(tx)
        changed_at = documents.change_times(db)
        documents.clear(db)
        for some in _batches(widgets.stream_widgets(tx.connection)):
            rendered = [render(it, changed_at.get(it.id, tx.at_ms)) for it in some]
            documents.put(db, rendered)
            progress(len(some))


def _sqlite(tx: Transaction) -> sqlite3.Connection:
    connection = tx.connection.connection.driver_connection
    if not isinstance(connection, sqlite3.Connection):
        raise TypeError("The projection writes along with a store on SQLite only.")
    return connection


def _batches(items: Iterator[T]) -> Iterator[list[T]]:
    while batch := list(itertools.islice(items, _BATCH)):
        yield batch
