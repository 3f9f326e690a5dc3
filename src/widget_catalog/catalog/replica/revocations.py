"""Reads revoked versions from the replica."""

from typing import NamedTuple

import msgspec

from .documents import Documents
from .records import damaged, unseal
from .rendering import RevokedVersion

_decode = msgspec.json.Decoder(list[RevokedVersion]).decode


class RevokedRow(NamedTuple):
    """A revoked version, and its widget."""

    scope: str
    name: str
    revoked: RevokedVersion


def list_revocations(documents: Documents) -> list[RevokedRow]:
    """Of all widgets, listed or not; newest first."""
    rows = []
    with documents.snapshot() as reading, reading.cursor(documents.file.revocations) as cursor:
        for key, record in cursor:
            widget_id = int.from_bytes(key, "big")
            listing = documents.find_listing(reading, widget_id)
            if listing is None:
                raise damaged(f"the listing of widget {widget_id}")
            try:
                revoked = _decode(unseal(record, f"the revocations of widget {widget_id}"))
            except msgspec.MsgspecError:
                raise damaged(f"the revocations of widget {widget_id}") from None
            rows += [RevokedRow(listing.scope, listing.name, it) for it in revoked]
    rows.sort(key=lambda it: (it.scope, it.name, it.revoked.version))
    return sorted(rows, key=lambda it: it.revoked.at, reverse=True)
