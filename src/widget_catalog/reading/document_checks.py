"""Whether what was read of the read model is what was written; DataDamaged if it is not."""

from collections.abc import Sequence
from typing import Any

from ..domain.errors import DataDamaged
from ..store.checksums import checksum
from .document_rows import TEXT_SEPARATOR, ListingColumns
from .document_tables import head_checksum, listing_checksum
from .ordinals import Array


def check_head(
    id_: int,
    is_shown: int,
    head: bytes,
    created_at: str,
    latest_version: str | None,
    written: int,
) -> None:
    try:
        is_sound = head_checksum(id_, is_shown, head, created_at, latest_version) == written
    except (TypeError, ValueError):  # Something of another type than was written.
        is_sound = False
    if not is_sound:
        raise damaged(f"the document of widget {id_}")


def check_bytes(what: str, data: bytes, written: int | None) -> None:
    if not isinstance(data, bytes) or checksum(data) != written:
        raise damaged(what)


def check_listing(values: Sequence[Any], written: int) -> None:
    """Values in the order of `listing_checksum`."""
    if listing_checksum(*values) != written:
        raise damaged(f"the listing of widget {values[0]}")


def check_listings(columns: ListingColumns, changed_at: Array, written: Array) -> None:
    ids, scopes, is_official, version_counts, names, descriptions = columns
    try:
        found = [
            listing_checksum(*listing)
            for listing in zip(
                ids.tolist(),
                scopes,
                is_official.tolist(),
                version_counts.tolist(),
                changed_at.tolist(),
                names.split(TEXT_SEPARATOR),
                descriptions.split(TEXT_SEPARATOR),
                strict=True,
            )
        ]
    except ValueError:  # Not as many of each.
        found = []
    if found != written.tolist():
        raise damaged("a listing")


def damaged(what: str) -> DataDamaged:
    return DataDamaged(
        f"{what[0].upper()}{what[1:]} in the read model is damaged or missing. Run doctor: it "
        "makes the read model anew if the rest of the database is sound."
    )
