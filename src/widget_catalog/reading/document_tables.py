"""The read model's tables: rendered documents in a local SQLite file.

With SQLite as the store they lie in its own file, so that one transaction writes both.
They can be thrown away and rendered again from the store at any time.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from ..store.checksums import checksum
from .ordinals import Array
from .rendering import Document

# So many fields of a document, those up to `description`, are in its listing.
_LISTED = Document._fields.index("description") + 1

# Counted up whenever the tables or the rendering change: documents are then made anew.
FORMAT = 6

# A checksum is over what is read together: see `listing_checksum` and `head_checksum`. Those of
# `styles`, `outline`, `entries` and the latest version among them are made by the rendering.
TABLES = ("listings", "documents", "read_model")
_TABLES = """
CREATE TABLE IF NOT EXISTS listings (
    id INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    name TEXT NOT NULL,
    is_listed INTEGER NOT NULL,
    is_official INTEGER,
    version_count INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    display_name TEXT NOT NULL,
    description TEXT
);
CREATE INDEX IF NOT EXISTS listings_by_name ON listings (scope, name, is_listed);
CREATE TABLE IF NOT EXISTS documents (
    id INTEGER PRIMARY KEY,
    is_shown INTEGER NOT NULL,
    head_checksum INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    latest_version TEXT,
    latest_start INTEGER NOT NULL,
    latest_length INTEGER NOT NULL,
    latest_checksum INTEGER NOT NULL,
    styles_checksum INTEGER NOT NULL,
    outline_checksum INTEGER NOT NULL,
    entries_checksum INTEGER NOT NULL,
    head BLOB NOT NULL,
    styles BLOB NOT NULL,
    outline BLOB NOT NULL,
    entries BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS read_model (format INTEGER NOT NULL);
"""

_COUNT_COLUMNS = """
SELECT max(widget_id), group_concat(widget_id), group_concat(count)
FROM (SELECT * FROM downloads WHERE widget_id > ? ORDER BY widget_id LIMIT 100000)
"""


def listing_checksum(
    number: int,
    scope: str,
    is_official: bool | None,
    version_count: int,
    changed_at: int,
    display_name: str,
    description: str | None,
) -> int:
    """Of what the search index is made from, and when the widget changed."""
    return checksum(
        f"{number} {scope} {1 if is_official else 0} {version_count} {changed_at} {display_name}\0"
        f"{description or ''}".encode()
    )


def head_checksum(
    number: int, is_listed: int, head: bytes, created_at: str, latest_version: str | None
) -> int:
    """Of all that is shown of a widget but its entries."""
    # A flag may be a number or a boolean.
    return checksum(head + f"{number} {is_listed:d} {created_at} {latest_version}".encode())


def ensure_tables(db: sqlite3.Connection) -> bool:
    """Make the tables if need be. False: what is in them is of another format, or nothing yet."""
    for statement in _TABLES.split(";"):
        db.execute(statement)
    return _format_of(db) == FORMAT


def is_of_this_format(db: sqlite3.Connection) -> bool:
    """Whether the tables are there and hold documents of this format. Changes nothing."""
    found = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'read_model'").fetchone()
    return found is not None and _format_of(db) == FORMAT


def _format_of(db: sqlite3.Connection) -> int | None:
    value: int | None = db.execute("SELECT max(format) FROM read_model").fetchone()[0]
    return value


def clear(db: sqlite3.Connection) -> None:
    """Empty the read model, to be filled anew in the same transaction."""
    for table in TABLES:
        db.execute(f"DROP TABLE IF EXISTS {table}")
    ensure_tables(db)
    stamp(db)


def stamp(db: sqlite3.Connection) -> None:
    """Say that all documents are of this format."""
    db.execute("DELETE FROM read_model")
    db.execute("INSERT INTO read_model VALUES (?)", (FORMAT,))


def rows_of(
    number: int, changed_at: int, document: Document
) -> tuple[tuple[object, ...], tuple[object, ...]]:
    """A document as rows of `listings` and `documents`."""
    it = document
    count = it.version_count
    listed = listing_checksum(
        number, it.scope, it.is_official, count, changed_at, it.display_name, it.description
    )
    shown = head_checksum(number, it.is_listed, it.head, it.created_at, it.latest_version)
    listing = (number, *document[: _LISTED - 2], changed_at, listed)
    return (
        (*listing, it.display_name, it.description),
        (number, it.is_listed, shown, *document[_LISTED:]),
    )


def put(db: sqlite3.Connection, documents: Iterable[tuple[int, int, Document]]) -> None:
    """Write documents, each with its number and the time of its change, over what was there."""
    listings, contents = [], []
    for number, changed_at, document in documents:
        listing, content = rows_of(number, changed_at, document)
        listings.append(listing)
        contents.append(content)
    _insert(db, "listings", listings)
    _insert(db, "documents", contents)


def _insert(db: sqlite3.Connection, table: str, rows: Sequence[tuple[object, ...]]) -> None:
    if rows:
        marks = ", ".join("?" * len(rows[0]))
        db.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", rows)  # noqa: S608


def find_differences(db: sqlite3.Connection, drawn: Mapping[int, Document]) -> dict[int, list[str]]:
    """Which of these documents are stored otherwise, and in which columns; none: it is missing."""
    marks = ",".join("?" * len(drawn))
    stored = []
    for table in ("listings", "documents"):
        cursor = db.execute(f"SELECT * FROM {table} WHERE id IN ({marks})", list(drawn))  # noqa: S608
        names = [it[0] for it in cursor.description]
        stored.append((names, {row[0]: row for row in cursor}))
    (listing_names, listings), (content_names, contents) = stored
    found: dict[int, list[str]] = {}
    for number, document in drawn.items():
        listing, content = listings.get(number), contents.get(number)
        if listing is None or content is None:
            found[number] = []
            continue
        # When it changed is the one thing that the document does not say.
        changed_at = listing[listing_names.index("changed_at")]
        right = rows_of(number, changed_at, document)
        wrong = [
            name
            for name, is_so, was_drawn in zip(
                (*listing_names, *content_names), (*listing, *content), sum(right, ()), strict=True
            )
            if is_so != was_drawn
        ]
        if wrong:
            found[number] = wrong
    return found


def rebuild_index(db: sqlite3.Connection) -> None:
    db.execute("REINDEX listings_by_name")


_STRANGERS = "id NOT IN (SELECT id FROM widgets)"


def count_strangers(db: sqlite3.Connection) -> int:
    """How many documents belong to no widget of the store."""
    listings, contents = (
        db.execute(f"SELECT count(*) FROM {table} WHERE {_STRANGERS}").fetchone()[0]  # noqa: S608
        for table in ("listings", "documents")
    )
    return int(max(listings, contents))


def remove_strangers(db: sqlite3.Connection) -> int:
    """Remove documents of widgets that are not in the store; gives how many there were."""
    found = count_strangers(db)
    for table in ("listings", "documents"):
        db.execute(f"DELETE FROM {table} WHERE {_STRANGERS}")  # noqa: S608
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
        yield numbers(ids), numbers(counts)


def change_times(db: sqlite3.Connection) -> dict[int, int]:
    """When each widget last changed, by number: the one thing the store's rows do not say."""
    listed = dict(db.execute("SELECT id, changed_at FROM listings"))
    # Where there are no listings, the feed says it, if not as quickly.
    feed = "SELECT widget_id, changed_at FROM changes ORDER BY seq"
    return listed or dict(db.execute(feed))


def numbers(joined: str) -> Array:
    return np.fromstring(joined, dtype=np.int64, sep=",")
