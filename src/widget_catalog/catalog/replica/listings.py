"""Listings: the input of the search index, as records small enough to read all of them."""

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.db.damage import checksum
from .records import CHECKSUM_BYTES, damaged
from .rendering import Document
from .rows import TEXT_SEPARATOR, Listing, ListingColumns, ListingRow

# Checksum of the rest, number, time of the last change, times of the widget's creation and of its
# latest release, number of versions, two flags.
_LISTING = struct.Struct("<IqqqqIBB")
_LISTING_BYTES = _LISTING.size
_NUMBER_AND_CHANGE = struct.Struct("<qq")
_CHANGE_ENDS = CHECKSUM_BYTES + _NUMBER_AND_CHANGE.size
_LISTING_HEADS = np.dtype(
    [
        ("checksum", "<u4"),
        ("id", "<i8"),
        ("changed_at", "<i8"),
        ("created_ms", "<i8"),
        ("released_ms", "<i8"),
        ("version_count", "<u4"),
        ("is_listed", "u1"),
        ("is_official", "u1"),
    ]
)
_OFFICIAL: tuple[bool | None, ...] = (None, False, True)
# Marks a missing description, which differs from an empty one.
_NO_DESCRIPTION = b"\1"


def encode_listing(number: int, changed_at: int, it: Document) -> bytes:
    texts = (it.scope, it.name, it.display_name, it.sdk_ranges, it.permissions, it.keywords)
    description = _NO_DESCRIPTION if it.description is None else it.description.encode()
    rest = _LISTING.pack(
        0,
        number,
        changed_at,
        it.created_ms,
        it.released_ms,
        it.version_count,
        it.is_listed,
        _OFFICIAL.index(it.is_official),
    )[CHECKSUM_BYTES:] + b"\0".join((*(text.encode() for text in texts), description))
    return checksum(rest).to_bytes(CHECKSUM_BYTES, "little") + rest


def numbered_listing(record: bytes, number: int, changed_at: int) -> bytes:
    """Adds the widget's number and the time of the change to a listing of `encode_listing`."""
    rest = _NUMBER_AND_CHANGE.pack(number, changed_at) + record[_CHANGE_ENDS:]
    return checksum(rest).to_bytes(CHECKSUM_BYTES, "little") + rest


def decode_listing(record: bytes) -> Listing:
    """Raises DataDamaged if this is not what was written."""
    try:
        written, number, changed_at, created, released, count, is_listed, official = (
            _LISTING.unpack_from(record)
        )
        *texts, description = split_texts(record)
        scope, name, display_name, ranges, permissions, keywords = (it.decode() for it in texts)
        if checksum(record[CHECKSUM_BYTES:]) != written:
            raise ValueError
        return Listing(
            number,
            changed_at,
            created,
            released,
            count,
            bool(is_listed),
            _OFFICIAL[official],
            scope,
            name,
            display_name,
            ranges,
            permissions,
            keywords,
            None if description == _NO_DESCRIPTION else description.decode(),
        )
    except (struct.error, ValueError, IndexError):
        raise damaged("a listing") from None


def decode_key(record: bytes) -> bytes:
    """The widget's key, a part of its listing. Raises DataDamaged."""
    try:
        scope, name, *_ = split_texts(record)
        written = int.from_bytes(record[:CHECKSUM_BYTES], "little")
        if checksum(record[CHECKSUM_BYTES:]) != written:
            raise ValueError
        return b"%b\0%b" % (scope, name)
    except ValueError:
        raise damaged("a listing") from None


def listing_row(it: Listing) -> ListingRow:
    return ListingRow(
        it.id,
        it.scope,
        it.name,
        it.is_official,
        it.version_count,
        it.display_name,
        it.description or "",
        it.created_ms,
        it.released_ms,
        it.sdk_ranges,
        it.permissions,
        it.keywords,
    )


def split_texts(record: bytes) -> list[bytes]:
    """Scope, name, display name, SDK ranges, permissions, keywords, description. None contains a
    NUL.
    """
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
            [it[6].removeprefix(_NO_DESCRIPTION) for it in texts]
        ).decode()
        labels = separator.join([b"%b %b %b" % (it[0], it[1], it[5]) for it in texts]).decode()
        facets = [[it[i].decode() for it in texts] for i in (1, 3, 4)]
    except (ValueError, IndexError):
        raise damaged("a listing") from None
    return ListingColumns(
        heads["id"].astype(np.int64),
        scopes,
        heads["is_official"] == 2,
        heads["version_count"].astype(np.int64),
        names,
        descriptions,
        labels,
        heads["created_ms"].astype(np.int64),
        heads["released_ms"].astype(np.int64),
        *facets,
    )


def count_listed(records: Sequence[bytes]) -> int:
    """How many of these listings are listed. Raises DataDamaged."""
    return int(np.count_nonzero(_checked_heads(records)["is_listed"] == 1))


def _checked_heads(records: Sequence[bytes]) -> "np.ndarray[Any, np.dtype[np.void]]":
    joined = b"".join([it[:_LISTING_BYTES] for it in records])
    if len(joined) != _LISTING_BYTES * len(records):
        raise damaged("a listing")
    heads = np.frombuffer(joined, _LISTING_HEADS)
    if [checksum(it[CHECKSUM_BYTES:]) for it in records] != heads["checksum"].tolist():
        raise damaged("a listing")
    return heads
