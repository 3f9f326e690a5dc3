"""Checking the read model against the store, a slice at a time, and mending what differs.

Nothing is held up: slices are read in short snapshots, and the writer lock is taken only to
mend, where each difference is looked at once more. Nothing is made from damaged rows.
"""

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence

import msgspec

from ..domain.accounts import COMMAND_LINE
from ..domain.events import Mended
from ..store import widgets
from ..store.engine import Store
from ..store.events import append_public
from . import document_tables as documents
from .projection import Projection, sqlite_of
from .rendering import render

Progress = Callable[[int], None]


class Differences(msgspec.Struct):
    """Sentences on damaged rows of the store and on mended documents; how many counts differed."""

    damaged: list[str] = msgspec.field(default_factory=list)
    mended: list[str] = msgspec.field(default_factory=list)
    counts: int = 0


def check_read_model(
    store: Store, projection: Projection, progress: Progress = lambda _: None
) -> Differences:
    found = Differences()
    projection.ensure_format(store)
    last_id = 0
    while True:
        with store.reading() as connection, _any_text(sqlite_of(connection)) as db:
            some = widgets.read_slice(connection, last_id)
            if some is None:
                break
            drawn = {it.id: render(it.widget) for it in some.sound}
            wrong = documents.find_differences(db, drawn)
        last_id = some.last_id
        found.damaged += some.damaged.values()
        if wrong:
            found.mended += _mend(store, list(wrong))
        progress(len(some.sound) + len(some.damaged))
    found.mended += _remove_strangers(store)
    found.counts = projection.mend_counts(store)
    return found


def _mend(store: Store, ids: Sequence[int]) -> Iterator[str]:
    """Draw these again where they still differ; they go to the feed, so every worker sees them."""
    with store.publishing() as tx, _any_text(sqlite_of(tx.connection)) as db:
        stored = {it.id: it for it in widgets.get_widgets(tx.connection, ids)}
        drawn = {widget_id: render(it.widget) for widget_id, it in stored.items()}
        wrong = documents.find_differences(db, drawn)
        if wrong:
            documents.rebuild_index(db)  # What leads to a damaged row cannot be replaced with it.
            keys = {it: (stored[it].widget.scope, stored[it].widget.name) for it in wrong}
            told = [(it, Mended(scope=scope, name=name)) for it, (scope, name) in keys.items()]
            latest_seq = append_public(tx, COMMAND_LINE, told)
            tx.saved([(it, drawn[it]) for it in wrong], latest_seq)
    for widget_id, columns in wrong.items():
        widget = stored[widget_id].widget
        what = f"differed in {', '.join(columns)}" if columns else "was missing"
        yield f"the document of {widget.scope}/{widget.name} {what}."


def _remove_strangers(store: Store) -> list[str]:
    with store.reading() as connection:
        if not documents.count_strangers(sqlite_of(connection)):
            return []
    with store.writing() as tx:
        removed = documents.remove_strangers(sqlite_of(tx.connection))
    return [f"{removed} documents belonged to no widget, and were removed."] if removed else []


@contextlib.contextmanager
def _any_text(db: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Let texts be read that are damaged so badly that they are not UTF-8 any more."""
    before = db.text_factory
    db.text_factory = lambda raw: raw.decode(errors="replace")
    try:
        yield db
    finally:
        db.text_factory = before
