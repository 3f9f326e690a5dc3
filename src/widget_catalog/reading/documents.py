"""Documents: a reader's connection to the read model.

Everything that is read is checked: what is not what was written, or is missing although the
store has it, is DataDamaged.
"""

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..store.checksums import RunningChecksum, checksum
from ..store.opened_file import OpenedFile
from .content import MAX_INLINE_BYTES
from .document_checks import check_bytes, check_head, check_listing, check_listings, damaged
from .document_rows import (
    TEXT_SEPARATOR,
    ChangeRow,
    DetailRow,
    FeedEntry,
    ListingColumns,
    ListingRow,
    RegistryRow,
    SummaryRow,
)
from .document_tables import head_checksum, latest_seq, numbers
from .ordinals import Array
from .rendering import Place

# Entries are the last column, and SQLite knows their length without reading them: what is
# larger than the event loop can spare the time for is left out, or read in slices.
_DETAIL = """
SELECT id, is_listed, head, created_at, latest_version, entries_checksum, is_shown, head_checksum,
    CASE WHEN length(entries) <= ? THEN entries END
FROM listings JOIN documents USING (id) WHERE scope = ? AND name = ?
"""
_SUMMARIES = """
SELECT id, is_shown, head, created_at, latest_version, head_checksum,
    latest_start, latest_length, latest_checksum,
    CASE WHEN length(entries) <= ? THEN substr(entries, latest_start + 1, latest_length) END
FROM documents WHERE id IN
"""
_REGISTRY = """
SELECT id, is_shown, head, created_at, latest_version, head_checksum, entries_checksum,
    CASE WHEN length(entries) <= ? THEN entries END
FROM listings LEFT JOIN documents USING (id) WHERE scope = ? AND is_listed ORDER BY name
"""
_REGISTRY_SIZE = """
SELECT count(*), coalesce(sum(length(head) + length(entries)), 0)
FROM (SELECT id FROM listings WHERE scope = ? AND is_listed LIMIT ?) JOIN documents USING (id)
"""
_LISTINGS = """
SELECT name, id, scope, is_official, version_count, changed_at, display_name,
    coalesce(description, ''), checksum
FROM listings
"""
_CHANGED_AT = 5


_LISTING_COLUMNS = """
SELECT max(id), group_concat(id), group_concat(scope), group_concat(coalesce(is_official, 0)),
    group_concat(version_count), group_concat(changed_at), group_concat(checksum),
    group_concat(display_name, ?1), group_concat(coalesce(description, ''), ?1)
FROM (SELECT * FROM listings WHERE is_listed AND id > ?2 ORDER BY id LIMIT 5000)
"""

_OUTLINE = """
SELECT id, outline, outline_checksum FROM listings JOIN documents USING (id)
WHERE scope = ? AND name = ?
"""
_OUTLINES = "SELECT id, outline, outline_checksum FROM documents WHERE id IN"
_STYLES = """
SELECT styles, styles_checksum FROM listings JOIN documents USING (id)
WHERE scope = ? AND name = ?
"""

# What the store has: a document that is missing is either nobody's, or lost.
_IN_STORE = "SELECT 1 FROM widgets WHERE scope = ? AND name = ?"
_SCOPE_IN_STORE = "SELECT 1 FROM widgets WHERE scope = ?"
_SCOPE_COUNTS = """
SELECT (SELECT count(*) FROM listings WHERE scope = ?),
    (SELECT count(*) FROM widgets WHERE scope = ?)
"""

_MOST_IN_A_SMALL_REGISTRY = 64


class Documents:
    """A reader's own connection. Every call sees the newest committed state."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # The server runs on one thread, but it is not the thread that opens this.
        self._file = OpenedFile(path)
        self._db = self._file.connect(isolation_level=None)
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
        """Raises sqlite3.Error if the file cannot be read, DataDamaged if it is lost."""
        self._file.check()
        self._db.execute("SELECT 1 FROM listings LIMIT 1").fetchone()

    def find_detail(self, scope: str, name: str) -> DetailRow | None:
        row = self._find(_DETAIL, scope, name, MAX_INLINE_BYTES)
        if row is None:
            return None
        id_, is_listed, head, created_at, latest_version, entries_sum, *rest = row
        is_shown, written, entries = rest
        try:
            is_sound = (
                head_checksum(id_, is_shown, head, created_at, latest_version) == written
                and is_listed == is_shown
                # A damaged index would lead to another widget's document.
                and head.startswith(f'{{"scope":"{scope}","name":"{name}",'.encode())
                and (entries is None or checksum(entries) == entries_sum)
            )
        except (TypeError, ValueError):  # Something of another type than was written.
            is_sound = False
        if not is_sound:
            raise damaged(f"the document of {scope}/{name}")
        return DetailRow(id_, is_listed, head, created_at, latest_version, entries_sum, entries)

    def list_summaries(self, ids: Sequence[int]) -> list[SummaryRow]:
        """Of all these widgets."""
        marks = ",".join("?" * len(ids))
        query = f"{_SUMMARIES} ({marks})"
        with self.snapshot():
            rows = self._db.execute(query, (MAX_INLINE_BYTES, *ids)).fetchall()
            if len(rows) != len(ids):
                raise damaged("a document that is listed")
            return [self._summary(*row) for row in rows]

    def _summary(
        self,
        id_: int,
        is_shown: int,
        head: bytes,
        created_at: str,
        latest_version: str | None,
        written: int,
        start: int,
        length: int,
        latest_checksum: int,
        latest: bytes | None,
    ) -> SummaryRow:
        check_head(id_, is_shown, head, created_at, latest_version, written)
        place = Place(start, length, latest_checksum)
        if latest is None:
            return SummaryRow(id_, head, self.read_entries(id_, place), place)
        check_bytes(f"the document of widget {id_}", latest, latest_checksum)
        return SummaryRow(id_, head, latest, place)

    def read_entries(self, widget_id: int, place: Place) -> bytes:
        """A part of a widget's entries. Inside a snapshot."""
        if not place.length:
            return b""
        with self._entries(widget_id) as blob:
            blob.seek(min(place.start, len(blob)))
            part = blob.read(place.length)
        check_bytes(f"the document of widget {widget_id}", part, place.checksum)
        return part

    def stream_entries(self, widget_id: int, piece_bytes: int, written: int) -> Iterator[bytes]:
        """All of a widget's entries, piece by piece. Inside a snapshot.

        They are checked at the end: nothing of them may be used before.
        """
        running = RunningChecksum()
        with self._entries(widget_id) as blob:
            yield from running.passing(iter(partial(blob.read, piece_bytes), b""))
        if running.value != written:
            raise damaged(f"the document of widget {widget_id}")

    def _entries(self, widget_id: int) -> sqlite3.Blob:
        return self._db.blobopen("documents", "entries", widget_id, readonly=True)

    def find_outline(self, scope: str, name: str) -> tuple[int, bytes] | None:
        """A widget's number, and where its versions stand among its entries."""
        row = self._find(_OUTLINE, scope, name)
        if row is None:
            return None
        widget_id, outline, written = row
        check_bytes(f"the document of {scope}/{name}", outline, written)
        return widget_id, outline

    def list_outlines(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Of all these widgets, by their numbers."""
        marks = ",".join("?" * len(ids))
        rows = self._db.execute(f"{_OUTLINES} ({marks})", ids).fetchall()
        if len(rows) != len(ids):
            raise damaged("a document that is listed")
        for widget_id, outline, written in rows:
            check_bytes(f"the document of widget {widget_id}", outline, written)
        return {widget_id: bytes(outline) for widget_id, outline, _ in rows}

    def find_styles(self, scope: str, name: str) -> bytes:
        """The style sheets of a widget's versions as JSON; nothing if there are none."""
        row = self._find(_STYLES, scope, name)
        if row is None:
            return b""
        check_bytes(f"the document of {scope}/{name}", *row)
        return bytes(row[0])

    def _find(self, query: str, scope: str, name: str, *first: object) -> Any:
        """The row of a widget; None if the store does not have the widget either."""
        given = (*first, scope, name)
        row = self._db.execute(query, given).fetchone()
        if row is None and self._db.execute(_IN_STORE, (scope, name)).fetchone() is not None:
            # Unless it was published between the two.
            row = self._db.execute(query, given).fetchone()
            if row is None:
                raise damaged(f"the document of {scope}/{name}")
        return row

    def stream_registry(self, scope: str) -> Iterator[RegistryRow]:
        """The listed widgets of a scope, by name. Inside a snapshot."""
        listed, stored = self._db.execute(_SCOPE_COUNTS, (scope, scope)).fetchone()
        if listed != stored:
            raise damaged(f"the registry of {scope}")
        for row in self._db.execute(_REGISTRY, (MAX_INLINE_BYTES, scope)):
            id_, is_shown, head, created_at, latest_version, written, entries_checksum, entries = (
                row
            )
            check_head(id_, is_shown, head, created_at, latest_version, written)
            if entries is not None:
                check_bytes(f"the document of widget {id_}", entries, entries_checksum)
            yield RegistryRow(id_, head, latest_version, entries_checksum, entries)

    def is_registry_large(self, scope: str) -> bool:
        """Whether the event loop should not read this registry."""
        most = _MOST_IN_A_SMALL_REGISTRY
        count, size = self._db.execute(_REGISTRY_SIZE, (scope, most + 1)).fetchone()
        return bool(count > most or size > MAX_INLINE_BYTES)

    def find_scope_change(self, scope: str) -> int | None:
        """When anything in this scope last changed, in milliseconds; None for no such scope."""
        found = self._scope_change(scope)
        if found is None and self._db.execute(_SCOPE_IN_STORE, (scope,)).fetchone() is not None:
            # Unless it was published between the two.
            found = self._scope_change(scope)
            if found is None:
                raise damaged(f"the registry of {scope}")
        return found

    def _scope_change(self, scope: str) -> int | None:
        newest: int | None = None
        for *values, written in self._db.execute(f"{_LISTINGS} WHERE scope = ?", (scope,)):
            check_listing(values[1:], written)
            newest = max(values[_CHANGED_AT], newest or 0)
        return newest

    def list_changes(self, after: int) -> list[ChangeRow]:
        """Every change after this one, oldest first."""
        query = """
            SELECT seq, widget_id, listings.scope, name, changes.changed_at
            FROM changes JOIN listings ON listings.id = widget_id WHERE seq > ? ORDER BY seq
        """
        return [ChangeRow(*row) for row in self._db.execute(query, (after,))]

    def list_scattered_changes(self, after: int, most: int) -> list[int]:
        """The numbers of widgets that changed after this, at most so many of them at a time."""
        many = "SELECT changed_at FROM changes WHERE seq > ?1 GROUP BY 1 HAVING count(*) > ?2"
        query = f"SELECT widget_id FROM changes WHERE seq > ?1 AND changed_at NOT IN ({many})"  # noqa: S608
        return [row[0] for row in self._db.execute(query, (after, most))]

    def is_importing(self) -> bool:
        """Whether an accepted import is being carried out."""
        query = "SELECT 1 FROM imports WHERE accepted_at IS NOT NULL"
        return self._db.execute(query).fetchone() is not None

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
            if None in found:  # A value that is never null is.
                raise damaged("a listing")
            last, ids, scopes, official, versions, changed_at, checksums, *texts = found
            columns = ListingColumns(
                numbers(ids),
                scopes.split(","),
                numbers(official).astype(np.bool_),
                numbers(versions),
                *texts,
            )
            check_listings(columns, numbers(changed_at), numbers(checksums))
            yield columns

    def check_listings(self) -> None:
        """Raises DataDamaged if the search index cannot be made of what is listed."""
        listed = sum(len(some.ids) for some in self.stream_listings())
        if listed != len(self.list_ids_by_name()):
            raise damaged("the index of names")

    def list_listings(self, ids: Sequence[int]) -> list[ListingRow]:
        rows: list[ListingRow] = []
        for start in range(0, len(ids), 500):
            some = ids[start : start + 500]
            marks = ",".join("?" * len(some))
            query = f"{_LISTINGS} WHERE is_listed AND id IN ({marks})"
            for name, *values, written in self._db.execute(query, some):
                check_listing(values, written)
                id_, scope, is_official, version_count, _, *texts = values
                rows.append(ListingRow(id_, scope, name, is_official, version_count, *texts))
        return rows

    def list_ids_by_name(self) -> Array:
        """The numbers of all listed widgets, by scope and name."""
        in_order = "SELECT id FROM listings WHERE is_listed ORDER BY scope, name"
        query = f"SELECT coalesce(group_concat(id), '') FROM ({in_order})"  # noqa: S608
        return numbers(self._db.execute(query).fetchone()[0])

    def find_id_before(self, scope: str, name: str) -> int | None:
        """The listed widget that stands just before this place by scope and name."""
        query = """
            SELECT id FROM listings WHERE is_listed AND (scope, name) < (?, ?)
            ORDER BY scope DESC, name DESC LIMIT 1
        """
        row = self._db.execute(query, (scope, name)).fetchone()
        return None if row is None else int(row[0])
