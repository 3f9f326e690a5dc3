"""WidgetRows: the rows of a widget, and building the widget from them.

No database access: processes that only render widgets import nothing else.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ...core.clock import from_ms
from ...core.db.damage import row_checksum
from ...core.errors import DataDamaged
from ..widgets import Revocation
from .rows import (
    Row,
    StoredWidget,
    check_widget,
    version_from,
    widget_from,
    with_attached,
)


class DamagedWidget(NamedTuple):
    """What is known about a widget with damaged rows."""

    scope: str
    name: str
    sentence: str


class WidgetRows(NamedTuple):
    """The rows of a widget, as plain values."""

    widget: Row
    versions: list[Row]
    revocations: list[Row]
    attached: list[Row]


class Slice(NamedTuple):
    """Some widgets by number, and errors for those that are damaged."""

    last_id: int
    intact: list[StoredWidget]
    damaged: dict[int, DamagedWidget]


def slice_of(rows: Sequence[WidgetRows]) -> Slice:
    """Widgets from their rows, each of them verified."""
    found = Slice(rows[-1].widget[0] if rows else 0, [], {})
    for it in rows:
        number, scope, name = it.widget[:3]
        try:
            found.intact.append(stored_widget(it))
        except DataDamaged as error:
            found.damaged[number] = DamagedWidget(scope, name, error.message)
    return found


def stored_widget(rows: WidgetRows) -> StoredWidget:
    """Raises DataDamaged if the checksum of any row does not match."""
    check_widget(rows.widget)
    number, scope, name = rows.widget[:3]
    found = [version_from(scope, name, it) for it in rows.versions]
    if rows.revocations:
        why = {it[1]: _revocation_from(it) for it in rows.revocations}
        found = [it.with_revocation(why.get(it.identity)) for it in found]
    if rows.attached:
        found = with_attached(found, [_checked_file(it) for it in rows.attached])
    return StoredWidget(number, widget_from(rows.widget, found))


def _checked_file(row: Row) -> Row:
    """Without the widget's number and the checksum. Raises DataDamaged if it does not match."""
    widget_id, *values, written = row
    if row_checksum(row[:-1]) != written:
        raise DataDamaged(
            f"The database is damaged: the file {values[1]} of version {values[0]} of widget "
            f"{widget_id} is not what was written. Restore it from a backup."
        )
    return tuple(values)


def _revocation_from(row: Row) -> Revocation:
    """Raises DataDamaged if the checksum does not match."""
    widget_id, identity, reason, revoked_at, written = row
    if row_checksum(row[:-1]) != written:
        raise DataDamaged(
            f"The database is damaged: the revocation of version {identity} of widget "
            f"{widget_id} is not what was written. Restore it from a backup."
        )
    return Revocation(reason, from_ms(revoked_at))
