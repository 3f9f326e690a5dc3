"""Records: what the replica keeps of a widget, as bytes that say themselves whether they are sound.

A widget has two. Its listing is what the search index is made of, small enough to read all of
them. Its document is what is shown of it; a reader slices out of it what it needs. Every part has
a checksum, and the lengths are looked at before anything else is: a damaged file may give any
bytes, and any number of them.
"""

import struct
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import xxhash

from ..domain.errors import DataDamaged
from ..store.checksums import checksum
from .rendering import Document, Place
from .rows import TEXT_SEPARATOR, ListingColumns

# Counted up whenever the records or the rendering change: the replica is then made anew.
FORMAT = 8

Bytes: TypeAlias = bytes | memoryview

# Checksum of the rest, number, time of the last change, how many versions, two flags.
_LISTING = struct.Struct("<IqqIBB")
_LISTING_BYTES = _LISTING.size
_LISTING_HEADS = np.dtype(
    [
        ("checksum", "<u4"),
        ("id", "<i8"),
        ("changed_at", "<i8"),
        ("version_count", "<u4"),
        ("is_listed", "u1"),
        ("is_official", "u1"),
    ]
)
_OFFICIAL: tuple[bool | None, ...] = (None, False, True)
# Instead of a description there may be none, which is not the same as an empty one.
_NO_DESCRIPTION = b"\1"

# Checksum of all up to the head's end; number, is_listed, lengths of the six parts; where the
# latest version stands among the entries, and its checksum; those of the last three parts.
_DOCUMENT = struct.Struct("<IqBBHIIIIIIIIII")
_CHECKSUM_BYTES = 4
_COPIED_BYTES = 1 << 16


# What leads to a widget: its number, and whether it is listed, or damaged in the store.
KEY = struct.Struct("<qB")
KEYS = np.dtype([("id", "<i8"), ("flags", "u1")])
LISTED, LOST = 1, 2
# A scope: when it last changed, how many widgets it has, and the checksum of both with its name.
SCOPE = struct.Struct("<qII")
CHANGE = struct.Struct("<qq")


def key_of(scope: str, name: str) -> bytes:
    return f"{scope}\0{name}".encode()


def number_key(number: int) -> bytes:
    return number.to_bytes(8, "big")


def member_key(key: bytes) -> bytes:
    return xxhash.xxh3_64_digest(key)


def scope_checksum(scope: bytes, changed_at: int, count: int) -> int:
    return checksum(b"%b %d %d" % (scope, changed_at, count))


class Listing(NamedTuple):
    id: int
    changed_at: int
    version_count: int
    is_listed: bool
    is_official: bool | None
    scope: str
    name: str
    display_name: str
    description: str | None


def encode_listing(number: int, changed_at: int, it: Document) -> bytes:
    texts = (it.scope, it.name, it.display_name)
    description = _NO_DESCRIPTION if it.description is None else it.description.encode()
    rest = _LISTING.pack(
        0, number, changed_at, it.version_count, it.is_listed, _OFFICIAL.index(it.is_official)
    )[_CHECKSUM_BYTES:] + b"\0".join((*(text.encode() for text in texts), description))
    return checksum(rest).to_bytes(_CHECKSUM_BYTES, "little") + rest


def decode_listing(record: bytes) -> Listing:
    """Raises DataDamaged if this is not what was written."""
    try:
        written, number, changed_at, count, is_listed, official = _LISTING.unpack_from(record)
        scope, name, display_name, description = split_texts(record)
        if checksum(record[_CHECKSUM_BYTES:]) != written:
            raise ValueError
        return Listing(
            number,
            changed_at,
            count,
            bool(is_listed),
            _OFFICIAL[official],
            scope.decode(),
            name.decode(),
            display_name.decode(),
            None if description == _NO_DESCRIPTION else description.decode(),
        )
    except (struct.error, ValueError, IndexError):
        raise damaged("a listing") from None


def split_texts(record: bytes) -> list[bytes]:
    """Scope, name, display name and description of a listing. No text holds a NUL."""
    return record[_LISTING_BYTES:].split(b"\0")


def listing_columns(records: Sequence[bytes]) -> ListingColumns:
    """Those of these listings that are listed, column by column. Raises DataDamaged."""
    try:
        heads = _checked_heads(records)
        listed = heads["is_listed"] == 1
        if not listed.all():
            records = [
                it for it, is_listed in zip(records, listed.tolist(), strict=True) if is_listed
            ]
            heads = heads[listed]
        texts = [split_texts(it) for it in records]
        scopes = [it[0].decode() for it in texts]
        separator = TEXT_SEPARATOR.encode()
        names = separator.join([it[2] for it in texts]).decode()
        descriptions = separator.join(
            [it[3].removeprefix(_NO_DESCRIPTION) for it in texts]
        ).decode()
    except (ValueError, IndexError):
        raise damaged("a listing") from None
    return ListingColumns(
        heads["id"].astype(np.int64),
        scopes,
        heads["is_official"] == 2,
        heads["version_count"].astype(np.int64),
        names,
        descriptions,
    )


def count_listed(records: Sequence[bytes]) -> int:
    """How many of these listings are listed. Raises DataDamaged."""
    return int(np.count_nonzero(_checked_heads(records)["is_listed"] == 1))


def _checked_heads(records: Sequence[bytes]) -> "np.ndarray[Any, np.dtype[np.void]]":
    joined = b"".join([it[:_LISTING_BYTES] for it in records])
    if len(joined) != _LISTING_BYTES * len(records):
        raise damaged("a listing")
    heads = np.frombuffer(joined, _LISTING_HEADS)
    if [checksum(it[_CHECKSUM_BYTES:]) for it in records] != heads["checksum"].tolist():
        raise damaged("a listing")
    return heads


def encode_document(number: int, it: Document) -> bytes:
    created_at, latest_version = it.created_at.encode(), (it.latest_version or "").encode()
    head = _DOCUMENT.pack(
        0,
        number,
        it.is_listed,
        len(created_at),
        len(latest_version),
        len(it.head),
        len(it.styles),
        len(it.outline),
        len(it.entries),
        it.latest_start,
        it.latest_length,
        it.latest_checksum,
        it.styles_checksum,
        it.outline_checksum,
        it.entries_checksum,
    )
    shown = b"".join((head[_CHECKSUM_BYTES:], created_at, latest_version, it.head))
    written = checksum(shown).to_bytes(_CHECKSUM_BYTES, "little")
    return b"".join((written, shown, it.styles, it.outline, it.entries))


class DocumentRecord:
    """A document as it is stored: checked up to its head, the other parts when they are read."""

    __slots__ = ("_checksums", "_ends", "_record", "_texts", "head", "id", "is_listed", "place")

    def __init__(self, record: Bytes) -> None:
        """Raises DataDamaged if this is not what was written."""
        size = len(record)
        if size < _DOCUMENT.size:
            raise damaged("a document")
        if size <= _COPIED_BYTES:
            record = bytes(record)  # To slice a view costs twice as much.
        fields: tuple[int, ...] = _DOCUMENT.unpack_from(record)
        written, self.id, is_listed, created, latest, head, styles, outline, entries = fields[:9]
        latest_at = _DOCUMENT.size + created
        head_at = latest_at + latest
        end = head_at + head
        outline_at = end + styles
        entries_at = outline_at + outline
        if size != entries_at + entries or checksum(record[_CHECKSUM_BYTES:end]) != written:
            raise damaged(f"the document of widget {self.id}")
        self._record = record
        self._texts = (_DOCUMENT.size, latest_at, head_at)
        self._ends = (end, outline_at, entries_at, size)
        self._checksums = fields[12:]
        self.is_listed = is_listed == 1
        self.head = bytes(record[head_at:end])
        self.place = Place(*fields[9:12])

    @property
    def created_at(self) -> str:
        start, stop, _ = self._texts
        return str(self._record[start:stop], "ascii")

    @property
    def latest_version(self) -> str | None:
        _, start, stop = self._texts
        return str(self._record[start:stop], "ascii") or None

    @property
    def styles(self) -> bytes:
        return self._part(0)

    @property
    def outline(self) -> bytes:
        return self._part(1)

    @property
    def entries(self) -> bytes:
        return self._part(2)

    @property
    def entries_length(self) -> int:
        return self._ends[3] - self._ends[2]

    @property
    def entries_checksum(self) -> int:
        return self._checksums[2]

    def entries_at(self, place: Place) -> bytes:
        """A part of the entries."""
        start = self._ends[2] + place.start
        part = bytes(self._record[start : start + place.length])
        if len(part) != place.length or checksum(part) != place.checksum:
            raise damaged(f"the document of widget {self.id}")
        return part

    def stream_entries(self, piece_bytes: int) -> "list[memoryview]":
        """All entries in pieces, which are not checked."""
        whole = memoryview(self._record)[self._ends[2] : self._ends[3]]
        return [whole[at : at + piece_bytes] for at in range(0, len(whole), piece_bytes)]

    def _part(self, number: int) -> bytes:
        ends = self._ends
        part = bytes(self._record[ends[number] : ends[number + 1]])
        if checksum(part) != self._checksums[number]:
            raise damaged(f"the document of widget {self.id}")
        return part

    def to_document(
        self, listing: Listing, revocations: bytes, manifests: tuple[tuple[str, str], ...]
    ) -> Document:
        """All that is known of the widget. Raises DataDamaged if any part is not sound."""
        styles_checksum, outline_checksum, entries_checksum = self._checksums
        return Document(
            listing.scope,
            listing.name,
            self.is_listed,
            listing.is_official,
            listing.version_count,
            listing.display_name,
            listing.description,
            self.created_at,
            self.latest_version,
            *self.place,
            styles_checksum,
            outline_checksum,
            entries_checksum,
            self.head,
            self.styles,
            revocations,
            manifests,
            self.outline,
            self.entries,
        )


def seal(content: bytes) -> bytes:
    """With its checksum before it."""
    return checksum(content).to_bytes(_CHECKSUM_BYTES, "little") + content


def unseal(record: Bytes, what: str) -> bytes:
    """Raises DataDamaged if this is not what was sealed."""
    content = bytes(record[_CHECKSUM_BYTES:])
    if int.from_bytes(record[:_CHECKSUM_BYTES], "little") != checksum(content):
        raise damaged(what)
    return content


def version_key(number: int, identity: str) -> bytes:
    """At most 264 bytes; LMDB takes 511."""
    return number_key(number) + identity.encode()


def damaged(what: str) -> DataDamaged:
    return DataDamaged(
        f"{what[0].upper()}{what[1:]} in the read model is damaged or missing. Run doctor: it "
        "makes the read model anew if the rest of the database is sound."
    )
