"""Verifies the checksums of all widgets and versions in a copy of the database, which SQLite's
integrity check does not know.

Rows are checked as read from SQLite, without building widgets: several times as fast, and every
snapshot is checked.
"""

import sqlite3
from collections.abc import Iterator

import sqlalchemy as sa

from ..catalog.store.tables import revocations, versions, widgets
from ..core.db.damage import row_checksum

_SHOWN = 20
_WIDGETS = "SELECT * FROM widgets ORDER BY id"
_VERSIONS = (
    "SELECT w.scope, w.name, v.* FROM versions v JOIN widgets w ON w.id = v.widget_id"
    " ORDER BY v.widget_id, v.identity"
)
# SQLite stores booleans as numbers, but the checksum covers true and false. Other numbers are
# damage.
_BOOLEANS = {0: False, 1: True}


def find_damaged_rows(database: sqlite3.Connection) -> list[str]:
    """The first damaged rows.

    A database of an older release with a different row format is not checked.
    """
    if not all(_is_of_this_release(database, it) for it in (widgets, versions, revocations)):
        return []
    faults: list[str] = []
    for name in _damaged(database):
        if len(faults) == _SHOWN:
            faults.append("There are more damaged rows.")
            break
        faults.append(f"{name} is not what was written: its checksum is wrong.")
    return faults


def _damaged(database: sqlite3.Connection) -> Iterator[str]:
    booleans = _places_of_booleans(widgets)
    for row in database.execute(_WIDGETS):
        number, *values, written = _with_booleans(row, booleans)
        if _differs(values, written):
            yield f"the widget {values[0]}/{values[1]} (number {number})"
    booleans = [it + 2 for it in _places_of_booleans(versions)]
    for row in database.execute(_VERSIONS):
        scope, name, _, *values, written, details = _with_booleans(row, booleans)
        covered = [scope, name, *values] if details is None else [scope, name, *values, details]
        if _differs(covered, written):
            yield f"version {values[0]} of {scope}/{name}"
    for number, identity, *rest, written in database.execute("SELECT * FROM revocations"):
        if _differs([number, identity, *rest], written):
            yield f"the revocation of version {identity} of widget {number}"


def _differs(values: list[object], written: object) -> bool:
    try:
        return row_checksum(values) != written
    except (TypeError, ValueError, OverflowError):  # A value of a type that is never written.
        return True


def _with_booleans(row: tuple[object, ...], places: list[int]) -> list[object]:
    values = list(row)
    for place in places:
        value = values[place]
        if isinstance(value, int):
            values[place] = _BOOLEANS.get(value, value)
    return values


def _places_of_booleans(table: sa.Table) -> list[int]:
    return [place for place, it in enumerate(table.columns) if isinstance(it.type, sa.Boolean)]


def _is_of_this_release(database: sqlite3.Connection, table: sa.Table) -> bool:
    found = [row[1] for row in database.execute(f"PRAGMA table_info({table.name})")]
    return found == [it.name for it in table.columns]
