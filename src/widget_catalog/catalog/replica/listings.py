"""Listings: the input of the search index, as records small enough to read all of them."""

from collections.abc import Sequence

import msgspec
import numpy as np

from .records import Bytes, damaged, seal, unseal
from .rows import TEXT_SEPARATOR, Listing, ListingColumns

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Listing).decode


def encode_listing(it: Listing, number: int, changed_at: int) -> bytes:
    return seal(_encode(msgspec.structs.replace(it, id=number, changed_at=changed_at)))


def decode_listing(record: Bytes) -> Listing:
    """Raises DataDamaged if this is not what was written."""
    try:
        return _decode(unseal(record, "a listing"))
    except msgspec.MsgspecError:
        raise damaged("a listing") from None


def listing_columns(records: Sequence[Bytes]) -> ListingColumns:
    """Those of these listings that are listed, column by column. Raises DataDamaged."""
    rows = [it for it in map(decode_listing, records) if it.is_listed]
    return ListingColumns(
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
    )
