"""Records of widgets, made from the rows that the store has of them.

The processes that rebuild a replica load this and no more than it needs: no database, no LMDB.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ..store.rows import Row
from ..store.widget_rows import WidgetRows, slice_of
from .listings import encode_listing
from .records import encode_document
from .rendering import Document, render

Asked = list[tuple[int, Row, list[Row], list[Row]]]
"""When each widget changed, and its rows."""
Encoded = tuple[list[Row], list[tuple[int, str, str, str]]]
"""Records; and of damaged widgets the number, scope, name and what is wrong."""


class Records(NamedTuple):
    """All that is kept of a widget, as plain values: another process may have made them."""

    id: int
    scope: str
    name: str
    is_listed: bool
    changed_at: int
    listing: bytes
    document: bytes
    revocations: bytes
    manifests: Sequence[tuple[str, str]]


def records_of(widget_id: int, changed_at: int, it: Document) -> Records:
    return Records(
        widget_id,
        it.scope,
        it.name,
        it.is_listed,
        changed_at,
        encode_listing(widget_id, changed_at, it),
        encode_document(widget_id, it),
        it.revocations,
        it.manifests,
    )


def encode_batch(asked: Asked) -> Encoded:
    some = slice_of([WidgetRows(*it[1:]) for it in asked])
    changed_at = {widget[0]: at for at, widget, *_ in asked}
    records = [tuple(records_of(it.id, changed_at[it.id], render(it.widget))) for it in some.sound]
    damaged = [(number, it.scope, it.name, it.sentence) for number, it in some.damaged.items()]
    return records, damaged
