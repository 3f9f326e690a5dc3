"""Encodes widgets as records, from their rows in the store, or before these exist.

Processes that rebuild a replica, or draft the widgets of an import, import only this and its few
dependencies: no database, no LMDB.
"""

from typing import Literal, NamedTuple

import msgspec

from ..model.widgets import Widget
from ..store.rows import Row, WidgetRows, slice_of
from .records import FORMAT, decode_new_index_row, encode_document, encode_index_row
from .rendering import Document, render

Asked = list[tuple[int, Row, list[Row], list[Row], list[Row]]]
"""When each widget changed, and its rows."""
Damaged = tuple[int, str, str, str]
"""Of a widget that is damaged in the store: number, scope, name and what is wrong."""
Encoded = tuple[list[Row], list[Damaged]]


class Records(NamedTuple):
    """All records of a widget, as plain values, which may come from another process, or from an
    import that was staged by another release: those of another format are not decoded.
    """

    format: Literal[22]
    id: int
    scope: str
    name: str
    is_listed: bool
    changed_at: int
    index_row: bytes
    document: bytes
    revocations: bytes
    extras: tuple[tuple[str, bytes], ...]


_pack = msgspec.msgpack.Encoder().encode
decode_prepared = msgspec.msgpack.Decoder(Records).decode


def prepare(widget: Widget | Document) -> bytes:
    """The prepared records of a widget, without its number and the time of the change. A writer
    keeps them until the change is applied, so that nearly all of the encoding is done where the
    widget is created; its document may have been rendered already.
    """
    document = render(widget) if isinstance(widget, Widget) else widget
    return _pack(records_of(0, 0, document))


def numbered(records: Records, widget_id: int, changed_at: int) -> Records:
    """Prepared records completed with the widget's number and the time of its change."""
    index_row = encode_index_row(decode_new_index_row(records.index_row), widget_id, changed_at)
    return records._replace(id=widget_id, changed_at=changed_at, index_row=index_row)


def records_of(widget_id: int, changed_at: int, document: Document) -> Records:
    return Records(
        FORMAT,
        widget_id,
        document.index_row.scope,
        document.index_row.name,
        document.index_row.is_listed,
        changed_at,
        encode_index_row(document.index_row, widget_id, changed_at),
        encode_document(document),
        document.revocations,
        document.extras,
    )


def encode_batch(asked: Asked) -> Encoded:
    some = slice_of([WidgetRows(*it[1:]) for it in asked])
    changed_at = {widget[0]: at for at, widget, *_ in asked}
    records = [tuple(records_of(it.id, changed_at[it.id], render(it.widget))) for it in some.intact]
    damaged = [(number, it.scope, it.name, it.sentence) for number, it in some.damaged.items()]
    return records, damaged
