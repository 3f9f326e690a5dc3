"""Records: the binary format of a widget in the replica.

A widget has two: its index row, the input of the search index, which is small enough to read all of
them; and its document, from which readers slice what they need. Every record is sealed: it begins
with a checksum of its key and its content, because a damaged file may return any bytes, any number
of them, and those of another key.
"""

import struct
from collections.abc import Sequence
from itertools import starmap
from typing import Final, TypeAlias

import msgspec
import numpy as np
import xxhash

from ...core.errors import DataDamaged, ReplicaDamaged
from ...core.http.content import MAX_INLINE_BYTES
from .rendering import CDN_MARK, Document
from .rows import TEXT_SEPARATOR, IndexColumns, IndexRow, SummaryRow

# Incremented whenever the records or the rendering change: the replica is then rebuilt.
FORMAT: Final = 22

Bytes: TypeAlias = bytes | memoryview

full_hash = xxhash.xxh3_64_intdigest

_SEAL = struct.Struct("<Q")
SEAL_BYTES = _SEAL.size

# A document: its header, the text of its detail without the count, style sheets, the picture of
# its card, outline. The header: flags, the hash of the text, the lengths of the text and of its
# part before the count.
_DOCUMENT = struct.Struct("<BQII")
# The lengths of the text between the count and the entries, of the entries, of the style sheets,
# and of the picture; the place of the latest version in the entries.
_PARTS = struct.Struct("<IIIIII")
_PARTS_AT = SEAL_BYTES + _DOCUMENT.size
_TEXT_AT = _PARTS_AT + _PARTS.size
_BEFORE_HEAD, _BEFORE_COUNT = b'{"widget":', b',"downloadCount":'
_BEFORE_CREATED, _BEFORE_ENTRIES = b',"createdAt":"', b'"},"versions":'
_BEFORE_LATEST = b',"latestVersion":'
_NULL = b"null"

Outline: TypeAlias = tuple[str, str, bool, int, int]
"""Of a version: its number and SDK range, whether it is yanked, and its place in the entries."""
# Plain tuples, because named ones take twice the time.
decode_outline = msgspec.json.Decoder(list[Outline]).decode
# The size and hash of the style sheet of each version that has one.
decode_styles = msgspec.json.Decoder(dict[str, tuple[int, str]]).decode

_encode_index_row = msgspec.msgpack.Encoder().encode
decode_new_index_row = msgspec.msgpack.Decoder(IndexRow).decode

# The entry of a key: the widget's number, and whether it is listed, or damaged in the store.
KEY = struct.Struct("<qB")
KEYS = np.dtype([("seal", "<u8"), ("id", "<i8"), ("flags", "u1")])
LISTED, LOST = 1, 2
# Further flags of a document: it contains markers for the CDN URL; `isOfficial` is null.
_MARKED, _NULL_OFFICIAL = 4, 8
# A scope: when it last changed, and its number of widgets.
SCOPE = struct.Struct("<qI")
CHANGE = struct.Struct("<qq")


def key_of(scope: str, name: str) -> bytes:
    return f"{scope}\0{name}".encode()


def number_key(number: int) -> bytes:
    return number.to_bytes(8, "big")


def member_key(key: bytes) -> bytes:
    return xxhash.xxh3_64_digest(key)


def seal(key: bytes, content: bytes) -> bytes:
    """The record to write for this key."""
    return _SEAL.pack(full_hash(content, full_hash(key))) + content


def unseal(key: Bytes, record: Bytes, what: str) -> Bytes:
    """The content of a record, a view if the record is one. Raises DataDamaged if it is not what
    was written for this key.
    """
    content = record[SEAL_BYTES:]
    if _SEAL.unpack_from(record)[0] != full_hash(content, full_hash(key)):
        raise damaged(what)
    return content


def read_key(key: Bytes, record: Bytes) -> tuple[int, int]:
    """The widget's number, and flags. Raises DataDamaged."""
    widget_id, flags = KEY.unpack(unseal(key, record, "the table of names"))
    return widget_id, flags


def encode_document(document: Document) -> bytes:
    # Only in a detail, it is never null, because the fields of a detail keep their types.
    is_null = document.head.endswith(_NULL)
    head = document.head.removesuffix(_NULL) + b"false" if is_null else document.head
    before = b"%b%b%b" % (_BEFORE_HEAD, head, _BEFORE_COUNT)
    between = b"%b%b%b" % (_BEFORE_CREATED, document.created_at.encode(), _BEFORE_ENTRIES)
    after = b"%b%b}" % (_BEFORE_LATEST, msgspec.json.encode(document.latest_version))
    text = b"".join((before, between, document.entries, after))
    flags = document.index_row.is_listed * LISTED | is_null * _NULL_OFFICIAL
    # Searching for one byte is almost free.
    flags |= (b"\\" in document.entries and CDN_MARK in document.entries) * _MARKED
    header = _DOCUMENT.pack(flags, full_hash(text), len(text), len(before))
    parts = _PARTS.pack(
        len(between),
        len(document.entries),
        len(document.styles),
        len(document.picture),
        *document.latest,
    )
    return b"".join((header, parts, text, document.styles, document.picture, document.outline))


class DocumentRecord:
    """A stored document.

    It is a view of the file: not usable after its transaction.
    """

    __slots__ = ("_count_at", "_end", "_record", "flags", "hash", "id")

    def __init__(self, number: int, record: Bytes) -> None:
        """Of the widget with this number. Raises DataDamaged if this is not what was written."""
        unseal(number_key(number), record, f"the document of widget {number}")
        self.id = number
        fields: tuple[int, ...] = _DOCUMENT.unpack_from(record, SEAL_BYTES)
        self.flags, self.hash, text, before = fields
        self._count_at = _TEXT_AT + before
        self._end = _TEXT_AT + text
        self._record = record

    @property
    def is_listed(self) -> bool:
        return self.flags & LISTED != 0

    @property
    def is_marked(self) -> bool:
        """Whether the CDN URL must be filled in."""
        return self.flags & _MARKED != 0

    @property
    def is_large(self) -> bool:
        """Whether it is too large to be read on the event loop."""
        return self._end - self._count_at > MAX_INLINE_BYTES

    @property
    def text(self) -> "tuple[Bytes, Bytes]":
        """The detail: the parts before and after the count."""
        return self._record[_TEXT_AT : self._count_at], self._record[self._count_at : self._end]

    @property
    def head(self) -> bytes:
        """The widget's own fields, as search and registry show them."""
        start, stop = _TEXT_AT + len(_BEFORE_HEAD), self._count_at - len(_BEFORE_COUNT)
        head = bytes(self._record[start:stop])
        is_null = self.flags & _NULL_OFFICIAL
        return head.removesuffix(b"false") + _NULL if is_null else head

    @property
    def created_at(self) -> str:
        between = self._part(self._count_at, self._entries_place[0])
        return between[len(_BEFORE_CREATED) : -len(_BEFORE_ENTRIES)].decode()

    @property
    def latest_version(self) -> bytes:
        """As JSON."""
        return self._part(self._entries_place[1], self._end)[len(_BEFORE_LATEST) : -1]

    @property
    def entries(self) -> bytes:
        return self._part(*self._entries_place)

    def entry(self, start: int, length: int) -> bytes:
        """A part of the entries."""
        start += self._entries_place[0]
        return self._part(start, start + length)

    @property
    def styles(self) -> bytes:
        return self._part(self._end, self._end + self._parts[2])

    @property
    def summary(self) -> SummaryRow:
        """What search results show: all of it at once, because every new result needs it."""
        between, _, styles, picture, start, length = self._parts
        at, after = self._count_at + between + start, self._end + styles
        latest = self._part(at, at + length)
        shown = self._part(after, after + picture) if picture else b""
        return SummaryRow(self.id, self.head, latest, (start, length), shown)

    @property
    def outline(self) -> bytes:
        """For `decode_outline`."""
        _, _, styles, picture, _, _ = self._parts
        return self._part(self._end + styles + picture, len(self._record))

    @property
    def _parts(self) -> tuple[int, ...]:
        return _PARTS.unpack_from(self._record, _PARTS_AT)

    @property
    def _entries_place(self) -> tuple[int, int]:
        between, entries, *_ = self._parts
        start = self._count_at + between
        return start, start + entries

    def _part(self, start: int, stop: int) -> bytes:
        return bytes(self._record[start:stop])


def encode_index_row(row: IndexRow, number: int, changed_at: int) -> bytes:
    return _encode_index_row(msgspec.structs.replace(row, id=number, changed_at=changed_at))


def decode_index_row(key: Bytes, record: Bytes) -> IndexRow:
    """Raises DataDamaged if this is not what was written."""
    return decode_new_index_row(unseal(key, record, "an index row"))


def index_columns(records: Sequence[tuple[Bytes, Bytes]]) -> IndexColumns:
    """Of these keys and index rows, those that are listed, column by column. Raises DataDamaged."""
    rows = [it for it in starmap(decode_index_row, records) if it.is_listed]
    return IndexColumns(
        ids=np.array([it.id for it in rows], np.int64),
        scopes=[it.scope for it in rows],
        is_official=np.array([it.is_official is True for it in rows], np.bool_),
        version_counts=np.array([it.version_count for it in rows], np.int64),
        display_names=TEXT_SEPARATOR.join([it.display_name for it in rows]),
        descriptions=TEXT_SEPARATOR.join([it.description or "" for it in rows]),
        labels=TEXT_SEPARATOR.join([it.label for it in rows]),
        created_ms=np.array([it.created_ms for it in rows], np.int64),
        released_ms=np.array([it.released_ms for it in rows], np.int64),
        names=[it.name for it in rows],
        facets=[it.facets for it in rows],
        terms=[it.terms for it in rows],
        readmes=[it.readme for it in rows],
        other_names=[it.other_names for it in rows],
        other_descriptions=[it.other_descriptions for it in rows],
    )


def version_key(number: int, identity: str) -> bytes:
    """At most 264 bytes; LMDB allows 511."""
    return number_key(number) + identity.encode()


def damaged(what: str) -> ReplicaDamaged:
    return ReplicaDamaged(
        f"{what[0].upper()}{what[1:]} in the read model is damaged or missing. It is rebuilt."
    )


def lost(what: str) -> DataDamaged:
    """Its rows in the store are damaged, so that it cannot be rebuilt."""
    return DataDamaged(f"{what[0].upper()}{what[1:]} is damaged in the database. Run doctor.")
