"""Listings: the input of the search index, as records small enough to read all of them."""

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.db.damage import checksum
from .records import CHECKSUM_BYTES, damaged
from .rows import TEXT_SEPARATOR, Listing, ListingColumns

# The head of a listing, with the checksum of the rest, and then its texts. None contains a NUL.
_HEAD = {
    "checksum": "I",
    "id": "q",
    "changed_at": "q",
    "created_ms": "q",
    "released_ms": "q",
    "version_count": "I",
    "is_listed": "B",
    "is_official": "B",
}
_TEXTS = (
    "scope",
    "name",
    "display_name",
    "facets",
    "terms",
    "readme",
    "description",
)
_LISTING = struct.Struct(f"<{''.join(_HEAD.values())}")
_LISTING_BYTES = _LISTING.size
_LISTING_HEADS = np.dtype([(name, f"<{code}") for name, code in _HEAD.items()])
_NUMBER_AND_CHANGE = struct.Struct("<qq")
_CHANGE_ENDS = CHECKSUM_BYTES + _NUMBER_AND_CHANGE.size
_OFFICIAL: tuple[bool | None, ...] = (None, False, True)
# Marks a missing description, which differs from an empty one.
_NO_DESCRIPTION = b"\1"


def encode_listing(number: int, changed_at: int, it: Listing) -> bytes:
    texts = (getattr(it, name) for name in _TEXTS[:-1])
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
        head: dict[str, Any] = dict(zip(_HEAD, _LISTING.unpack_from(record), strict=True))
        if checksum(record[CHECKSUM_BYTES:]) != head.pop("checksum"):
            raise ValueError
        texts: dict[str, Any] = {
            name: text.decode() for name, text in zip(_TEXTS, split_texts(record), strict=True)
        }
        head["is_listed"] = head["is_listed"] == 1
        head["is_official"] = _OFFICIAL[head["is_official"]]
        if texts["description"] == _NO_DESCRIPTION.decode():
            texts["description"] = None
        return Listing(**head, **texts)
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


def split_texts(record: bytes) -> list[bytes]:
    """In the order of `_TEXTS`."""
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
        rows = [dict(zip(_TEXTS, split_texts(it), strict=True)) for it in records]
        columns = {name: [it[name] for it in rows] for name in _TEXTS}
        named = zip(columns["scope"], columns["name"], columns["terms"], strict=True)
        labels = [b"%b %b %b" % it for it in named]
        descriptions = [it.removeprefix(_NO_DESCRIPTION) for it in columns["description"]]
        return ListingColumns(
            ids=heads["id"].astype(np.int64),
            scopes=_decoded(columns["scope"]),
            is_official=heads["is_official"] == 2,
            version_counts=heads["version_count"].astype(np.int64),
            display_names=_joined(columns["display_name"]),
            descriptions=_joined(descriptions),
            labels=_joined(labels),
            created_ms=heads["created_ms"].astype(np.int64),
            released_ms=heads["released_ms"].astype(np.int64),
            names=_decoded(columns["name"]),
            facets=_decoded(columns["facets"]),
            terms=_decoded(columns["terms"]),
            readmes=_decoded(columns["readme"]),
        )
    except ValueError:
        raise damaged("a listing") from None


def _joined(texts: Sequence[bytes]) -> str:
    return TEXT_SEPARATOR.encode().join(texts).decode()


def _decoded(texts: Sequence[bytes]) -> list[str]:
    return [it.decode() for it in texts]


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
