"""The read model's tables: rendered documents in a local SQLite file.

With SQLite as the store they lie in its own file, so that one transaction writes both.
They can be thrown away and rendered again from the store at any time.
"""

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .content import MAX_INLINE_BYTES
from .ordinals import Array
from .rendering import Document

# So many fields of a document, those up to `description`, are in its listing.
_LISTED = Document._fields.index("description") + 1

# Counted up whenever the tables or the rendering change: documents are then made anew.
FORMAT = 4

_TABLES = """
CREATE TABLE IF NOT EXISTS listings (
    id INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    name TEXT NOT NULL,
    is_listed INTEGER NOT NULL,
    is_official INTEGER,
    version_count INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    display_name TEXT NOT NULL,
    description TEXT
);
CREATE INDEX IF NOT EXISTS listings_by_name ON listings (scope, name, is_listed);
CREATE TABLE IF NOT EXISTS documents (
    id INTEGER PRIMARY KEY,
    created_at TEXT NOT NULL,
    latest_version TEXT,
    latest_start INTEGER NOT NULL,
    latest_length INTEGER NOT NULL,
    head BLOB NOT NULL,
    styles BLOB NOT NULL,
    outline BLOB NOT NULL,
    entries BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS read_model (format INTEGER NOT NULL);
"""

# Entries are the last column, and SQLite knows their length without reading them: what is
# larger than the event loop can spare the time for is left out, or read in slices.
_DETAIL = """
SELECT id, is_listed, head, created_at, latest_version,
    CASE WHEN length(entries) <= ? THEN entries END
FROM listings JOIN documents USING (id) WHERE scope = ? AND name = ?
"""
_SUMMARIES = """
SELECT id, head, latest_start, latest_length,
    CASE WHEN length(entries) <= ? THEN substr(entries, latest_start + 1, latest_length) END
FROM documents WHERE id IN
"""
_REGISTRY = """
SELECT id, head, latest_version, CASE WHEN length(entries) <= ? THEN entries END
FROM listings JOIN documents USING (id) WHERE scope = ? AND is_listed ORDER BY name
"""
_REGISTRY_SIZE = """
SELECT count(*), coalesce(sum(length(head) + length(entries)), 0)
FROM (SELECT id FROM listings WHERE scope = ? AND is_listed LIMIT ?) JOIN documents USING (id)
"""
_LISTINGS = """
SELECT id, scope, name, is_official, version_count, display_name, coalesce(description, '')
FROM listings
"""


_LISTING_COLUMNS = """
SELECT max(id), group_concat(id), group_concat(scope), group_concat(coalesce(is_official, 0)),
    group_concat(version_count), group_concat(display_name, ?1),
    group_concat(coalesce(description, ''), ?1)
FROM (SELECT * FROM listings WHERE is_listed AND id > ?2 ORDER BY id LIMIT 5000)
"""

_COUNT_COLUMNS = """
SELECT max(widget_id), group_concat(widget_id), group_concat(count)
FROM (SELECT * FROM downloads WHERE widget_id > ? ORDER BY widget_id LIMIT 100000)
"""

_MOST_IN_A_SMALL_REGISTRY = 64

# Stands between joined texts. A NUL is in no text: it is refused at the edge.
TEXT_SEPARATOR = " \0 "


class FeedEntry(NamedTuple):
    """A change as the store's feed has it."""

    seq: int
    widget_id: int
    scope: str
    changed_at: int


class DetailRow(NamedTuple):
    """`entries` is None where they are large: they are read with `stream_entries`."""

    id: int
    is_listed: bool
    head: bytes
    created_at: str
    latest_version: str | None
    entries: bytes | None


class SummaryRow(NamedTuple):
    id: int
    head: bytes
    latest: bytes


class RegistryRow(NamedTuple):
    """`entries` is None where they are large."""

    id: int
    head: bytes
    latest_version: str | None
    entries: bytes | None


class ListingRow(NamedTuple):
    """What the search index needs to know of a listed widget."""

    id: int
    scope: str
    name: str
    is_official: bool | None
    version_count: int
    display_name: str
    description: str


class ListingColumns(NamedTuple):
    """The same of many widgets, column by column; the texts of a column are joined to one."""

    ids: Array
    scopes: list[str]
    is_official: Array
    version_counts: Array
    display_names: str
    descriptions: str


class Documents:
    """A reader's own connection. Every call sees the newest committed state."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # The server runs on one thread, but it is not the thread that opens this.
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA query_only = ON")
        self._db.execute("PRAGMA cache_size = -16384")
        self._db.execute("PRAGMA mmap_size = 0")

    def close(self) -> None:
        self._db.close()

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Inside, every call sees the same state."""
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            self._db.execute("COMMIT")

    def check(self) -> None:
        """Raises sqlite3.Error if the file cannot be read."""
        self._db.execute("SELECT 1 FROM listings LIMIT 1").fetchone()

    def find_detail(self, scope: str, name: str) -> DetailRow | None:
        row = self._db.execute(_DETAIL, (MAX_INLINE_BYTES, scope, name)).fetchone()
        return None if row is None else DetailRow(*row)

    def list_summaries(self, ids: Sequence[int]) -> list[SummaryRow]:
        marks = ",".join("?" * len(ids))
        query = f"{_SUMMARIES} ({marks})"
        with self.snapshot():
            return [
                SummaryRow(
                    id_,
                    head,
                    self.read_entries(id_, start, length) if latest is None else latest,
                )
                for id_, head, start, length, latest in self._db.execute(
                    query, (MAX_INLINE_BYTES, *ids)
                ).fetchall()
            ]

    def read_entries(self, widget_id: int, start: int, length: int) -> bytes:
        """A part of a widget's entries, whatever their size. Inside a snapshot."""
        if not length:
            return b""
        with self._db.blobopen("documents", "entries", widget_id, readonly=True) as blob:
            blob.seek(start)
            return blob.read(length)

    def stream_entries(self, widget_id: int, piece_bytes: int) -> Iterator[bytes]:
        """All of a widget's entries, piece by piece. Inside a snapshot."""
        with self._db.blobopen("documents", "entries", widget_id, readonly=True) as blob:
            while piece := blob.read(piece_bytes):
                yield piece

    def find_outline(self, scope: str, name: str) -> tuple[int, bytes] | None:
        """A widget's number, and where its versions stand among its entries."""
        query = """
            SELECT id, outline FROM listings JOIN documents USING (id)
            WHERE scope = ? AND name = ?
        """
        found: tuple[int, bytes] | None = self._db.execute(query, (scope, name)).fetchone()
        return found

    def get_outline(self, widget_id: int) -> bytes:
        query = "SELECT outline FROM documents WHERE id = ?"
        return bytes(self._db.execute(query, (widget_id,)).fetchone()[0])

    def find_styles(self, scope: str, name: str) -> bytes:
        """The style sheets of a widget's versions as JSON; nothing if there are none."""
        query = "SELECT styles FROM listings JOIN documents USING (id) WHERE scope = ? AND name = ?"
        row = self._db.execute(query, (scope, name)).fetchone()
        return b"" if row is None else bytes(row[0])

    def stream_registry(self, scope: str) -> Iterator[RegistryRow]:
        """The listed widgets of a scope, by name."""
        rows = self._db.execute(_REGISTRY, (MAX_INLINE_BYTES, scope))
        return (RegistryRow(*row) for row in rows)

    def is_registry_large(self, scope: str) -> bool:
        """Whether the event loop should not read this registry."""
        most = _MOST_IN_A_SMALL_REGISTRY
        count, size = self._db.execute(_REGISTRY_SIZE, (scope, most + 1)).fetchone()
        return bool(count > most or size > MAX_INLINE_BYTES)

    def find_scope_change(self, scope: str) -> int | None:
        """When anything in this scope last changed, in milliseconds; None for no such scope."""
        query = "SELECT max(changed_at) FROM listings WHERE scope = ?"
        found: int | None = self._db.execute(query, (scope,)).fetchone()[0]
        return found

    def list_changes(self, after: int) -> list[tuple[int, int, str, str]]:
        """(seq, widget number, scope, name) of every change after this one, oldest first."""
        query = """
            SELECT seq, widget_id, listings.scope, name
            FROM changes JOIN listings ON listings.id = widget_id WHERE seq > ? ORDER BY seq
        """
        return self._db.execute(query, (after,)).fetchall()

    def latest_seq(self) -> int:
        return latest_seq(self._db)

    def find_change(self, seq: int) -> FeedEntry | None:
        query = "SELECT seq, widget_id, scope, changed_at FROM changes WHERE seq = ?"
        row = self._db.execute(query, (seq,)).fetchone()
        return None if row is None else FeedEntry(*row)

    def newest_change(self) -> FeedEntry | None:
        return self.find_change(self.latest_seq())

    def highest_id(self) -> int:
        """The largest number of a widget; numbers are dense, so about how many there are."""
        query = "SELECT coalesce(max(id), 0) FROM listings"
        return int(self._db.execute(query).fetchone()[0])

    def stream_listings(self) -> Iterator[ListingColumns]:
        """Every listed widget, some thousand at a time.

        SQLite joins the values of a column itself: a million rows cost a third of what they
        would cost as Python objects.
        """
        last = 0
        while True:
            found = self._db.execute(_LISTING_COLUMNS, (TEXT_SEPARATOR, last)).fetchone()
            if found[0] is None:
                return
            last, ids, scopes, official, versions, names, descriptions = found
            yield ListingColumns(
                _numbers(ids),
                scopes.split(","),
                _numbers(official).astype(np.bool_),
                _numbers(versions),
                names,
                descriptions,
            )

    def list_listings(self, ids: Sequence[int]) -> list[ListingRow]:
        rows: list[ListingRow] = []
        for start in range(0, len(ids), 500):
            some = ids[start : start + 500]
            marks = ",".join("?" * len(some))
            query = f"{_LISTINGS} WHERE is_listed AND id IN ({marks})"
            rows += [ListingRow(*row) for row in self._db.execute(query, some)]
        return rows

    def list_ids_by_name(self) -> Array:
        """The numbers of all listed widgets, by scope and name."""
        in_order = "SELECT id FROM listings WHERE is_listed ORDER BY scope, name"
        query = f"SELECT coalesce(group_concat(id), '') FROM ({in_order})"  # noqa: S608
        return _numbers(self._db.execute(query).fetchone()[0])

    def find_id_before(self, scope: str, name: str) -> int | None:
        """The listed widget that stands just before this place by scope and name."""
        query = """
            SELECT id FROM listings WHERE is_listed AND (scope, name) < (?, ?)
            ORDER BY scope DESC, name DESC LIMIT 1
        """
        row = self._db.execute(query, (scope, name)).fetchone()
        return None if row is None else int(row[0])


def _numbers(joined: str) -> Array:
    return np.fromstring(joined, dtype=np.int64, sep=",")


def ensure_tables(db: sqlite3.Connection) -> bool:
    """Make the tables if need be. False: what is in them is of another format, or nothing yet."""
    for statement in _TABLES.split(";"):
        db.execute(statement)
    return bool(db.execute("SELECT max(format) FROM read_model").fetchone()[0] == FORMAT)


def clear(db: sqlite3.Connection) -> None:
    """Empty the read model, to be filled anew in the same transaction."""
    for table in ("listings", "documents", "read_model"):
        db.execute(f"DROP TABLE IF EXISTS {table}")
    ensure_tables(db)
    stamp(db)


def stamp(db: sqlite3.Connection) -> None:
    """Say that all documents are of this format."""
    db.execute("DELETE FROM read_model")
    db.execute("INSERT INTO read_model VALUES (?)", (FORMAT,))


def put(db: sqlite3.Connection, documents: Iterable[tuple[int, int, Document]]) -> None:
    """Write documents, each with its number and the time of its change, over what was there."""
    listings, contents = [], []
    for number, changed_at, document in documents:
        *listing, display_name, description = document[:_LISTED]
        listings.append((number, *listing, changed_at, display_name, description))
        contents.append((number, *document[_LISTED:]))
    db.executemany("INSERT OR REPLACE INTO listings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", listings)
    db.executemany("INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", contents)


def get_documents(db: sqlite3.Connection, ids: Sequence[int]) -> dict[int, Document]:
    """Those of these documents that there are, whole."""
    marks = ",".join("?" * len(ids))
    columns = ", ".join(Document._fields)
    rows = db.execute(
        f"SELECT id, {columns} FROM listings JOIN documents USING (id) WHERE id IN ({marks})",  # noqa: S608
        ids,
    )
    return {row[0]: Document(*row[1:]) for row in rows}


def remove_strangers(db: sqlite3.Connection) -> int:
    """Remove documents of widgets that are not in the store; gives how many there were."""
    found = 0
    for table in ("documents", "listings"):
        cursor = db.execute(f"DELETE FROM {table} WHERE id NOT IN (SELECT id FROM widgets)")  # noqa: S608
        found = max(found, cursor.rowcount)
    return found


def latest_seq(db: sqlite3.Connection) -> int:
    """The number of the feed's newest change."""
    return int(db.execute("SELECT coalesce(max(seq), 0) FROM changes").fetchone()[0])


def stream_counts(db: sqlite3.Connection) -> Iterator[tuple[Array, Array]]:
    """Widget numbers and their stored counts, many at a time; one never downloaded is left out."""
    last = 0
    while True:
        last, ids, counts = db.execute(_COUNT_COLUMNS, (last,)).fetchone()
        if last is None:
            return
        yield _numbers(ids), _numbers(counts)


def change_times(db: sqlite3.Connection) -> dict[int, int]:
    """When each widget last changed, by number: the one thing the store's rows do not say."""
    return dict(db.execute("SELECT id, changed_at FROM listings"))
