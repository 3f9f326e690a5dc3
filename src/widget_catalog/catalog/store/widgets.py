"""Widgets and their versions. Every save records an event."""

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from widget_contract.names import Scope, WidgetName

from ...core.actors import COMMAND_LINE, Actor
from ...core.db.bulk import driver_key_parameters, insert_rows, key_parameters, keys_looked_up
from ...core.db.damage import any_text, is_damage, row_checksum
from ...core.db.engine import Transaction
from ...core.errors import NotFound
from ..model.events import Imported, PublicEvent, Revoked, TextChanged
from ..model.widgets import Totals, Version, Widget
from .downloads import downloads as counts
from .downloads import set_counts
from .drafts import Draft, draft
from .events import append_public, require_changeable
from .revocations import add_revocations, save_revocation
from .rows import (
    Row,
    Slice,
    StoredWidget,
    WidgetRows,
    attached_rows,
    slice_of,
    stored_widget,
    version_row,
    widget_row,
)
from .tables import revocations, version_files, versions, widgets

Key = tuple[str, str]
"""A scope and a name."""

# PostgreSQL allows at most 65,535 parameters per statement, SQLite 32,766.
_KEYS_PER_QUERY = 500


def find_widget(connection: Connection, scope: Scope, name: WidgetName) -> StoredWidget | None:
    return find_widgets(connection, [(scope, name)]).get((scope, name))


def find_widgets(connection: Connection, keys: Sequence[Key]) -> dict[Key, StoredWidget]:
    """Those of these widgets that exist, with all their versions."""
    found: list[sa.Row[Any]] = []
    dialect = connection.dialect.name
    for start in range(0, len(keys), _KEYS_PER_QUERY):
        some = keys[start : start + _KEYS_PER_QUERY]
        query = _widgets_by_key(dialect, len(some))
        found += connection.execute(query, key_parameters(dialect, some)).all()
    return {(it.widget.scope, it.widget.name): it for it in _with_versions(connection, found)}


def find_hashes(connection: Connection, keys: Sequence[Key]) -> dict[Key, dict[str, str]]:
    """Those of these widgets that exist: the hashes of their bundles by a version's identity."""
    found: dict[Key, dict[str, str]] = {}
    dialect = connection.dialect.name
    for start in range(0, len(keys), _KEYS_PER_QUERY):
        some = keys[start : start + _KEYS_PER_QUERY]
        query = _hashes_by_key(dialect, len(some))
        rows = connection.exec_driver_sql(query, driver_key_parameters(dialect, some))
        for scope, name, identity, sha256_hash in rows:
            of = found.setdefault((scope, name), {})
            if identity is not None:
                of[identity] = sha256_hash
    return found


def get_widgets(connection: Connection, ids: Sequence[int]) -> list[StoredWidget]:
    """These widgets by number, in the order of their numbers."""
    query = sa.select(widgets).where(widgets.c.id.in_(ids)).order_by(widgets.c.id)
    return _with_versions(connection, connection.execute(query).all())


def list_widgets_in(connection: Connection, scope: Scope) -> list[StoredWidget]:
    """Every widget of a scope, by name."""
    query = sa.select(widgets).where(widgets.c.scope == scope).order_by(widgets.c.name)
    return _with_versions(connection, connection.execute(query).all())


def list_widgets_page(
    connection: Connection,
    page: int,
    limit: int,
    *,
    scopes: Sequence[str] | None = None,
    state: str | None = None,
) -> tuple[list[StoredWidget], int]:
    """A page of the widgets of these scopes by scope and name, or of all, newest first; and the
    total. `state`: only those that are official, unlisted, or have a revoked version.
    """
    which: list[sa.ColumnElement[bool]] = []
    if scopes is not None:
        which.append(widgets.c.scope.in_(scopes))
    if state == "official":
        which.append(widgets.c.is_official)
    elif state == "unlisted":
        which.append(sa.not_(widgets.c.is_listed))
    elif state == "revoked":
        which.append(widgets.c.id.in_(sa.select(revocations.c.widget_id)))
    count = sa.select(sa.func.count()).select_from(widgets).where(*which)
    order = [widgets.c.id.desc()] if scopes is None else [widgets.c.scope, widgets.c.name]
    query = sa.select(widgets).where(*which).order_by(*order)
    rows = connection.execute(query.limit(limit).offset((page - 1) * limit)).all()
    return _with_versions(connection, rows), connection.execute(count).scalar_one()


def get_widget(connection: Connection, scope: Scope, name: WidgetName) -> StoredWidget:
    found = find_widget(connection, scope, name)
    if found is None:
        raise NotFound(f"There is no widget {scope}/{name}.")
    return found


def get_version(versions: tuple[Version, ...], key: str, number: str) -> Version:
    identity = number.partition("+")[0]
    found = next((it for it in versions if it.identity == identity), None)
    if found is None:
        raise NotFound(f"There is no version {number[:80]!r} of {key}.")
    return found


def stream_widgets(connection: Connection, batch: int = 500) -> Iterator[StoredWidget]:
    """Every widget with its versions, by scope and name, a batch at a time."""
    key = sa.tuple_(widgets.c.scope, widgets.c.name)
    query = sa.select(widgets).order_by(widgets.c.scope, widgets.c.name).limit(batch)
    rows = connection.execute(query).all()
    while rows:
        yield from _with_versions(connection, rows)
        last = sa.tuple_(sa.literal(rows[-1].scope), sa.literal(rows[-1].name))
        rows = connection.execute(query.where(key > last)).all()


def read_rows(connection: Connection, after_id: int, batch: int = 500) -> list[WidgetRows]:
    """The rows of the next widgets by number, damaged or not; none after the last."""
    query = sa.select(widgets).where(widgets.c.id > after_id).order_by(widgets.c.id).limit(batch)
    return _read(connection, query, are_neighbours=True)


def read_widgets(connection: Connection, ids: Sequence[int]) -> Slice:
    """These widgets, damaged or not."""
    return slice_of(_read(connection, sa.select(widgets).where(widgets.c.id.in_(ids))))


def _read(
    connection: Connection, query: sa.Select[Any], *, are_neighbours: bool = False
) -> list[WidgetRows]:
    try:
        return _with_parts(connection, connection.execute(query).all(), are_neighbours)
    except sa.exc.OperationalError as error:
        if not is_damage(error.orig or error):
            raise
    # Only as a fallback, because it takes 50% longer.
    with any_text(connection):
        return _with_parts(connection, connection.execute(query).all(), are_neighbours)


def count_widgets(connection: Connection) -> int:
    return connection.execute(sa.select(sa.func.count()).select_from(widgets)).scalar_one()


def count_listed(connection: Connection) -> Totals:
    def total(number: sa.ColumnElement[int], tables: sa.FromClause) -> int:
        query = sa.select(number).select_from(tables).where(widgets.c.is_listed)
        return int(connection.execute(query).scalar_one())

    return Totals(
        widgets=total(sa.func.count(), widgets),
        versions=total(sa.func.count(), widgets.join(versions)),
        scopes=total(sa.func.count(widgets.c.scope.distinct()), widgets),
        downloads=total(sa.func.coalesce(sa.func.sum(counts.c.count), 0), widgets.join(counts)),
    )


def count_stored_bytes(connection: Connection) -> int:
    """The bytes of all stored versions; duplicates count twice."""
    size = versions.c.bundle_size + sa.func.coalesce(versions.c.css_size, 0)
    query = sa.select(sa.func.coalesce(sa.func.sum(size), 0)).where(versions.c.bundle_url.is_(None))
    attached = sa.select(sa.func.coalesce(sa.func.sum(version_files.c.size_bytes), 0))
    return sum(int(connection.execute(it).scalar_one()) for it in (query, attached))


def highest_id(connection: Connection) -> int:
    """The largest number of a widget so far; 0 if there is none."""
    query = sa.select(sa.func.coalesce(sa.func.max(widgets.c.id), 0))
    return int(connection.execute(query).scalar_one())


def add_widget(
    tx: Transaction, new: Widget, by: Actor, event: PublicEvent, *, prepared: bytes | None = None
) -> None:
    """Add a new widget. `prepared` are its records, if there are any yet."""
    _add(tx, [draft(new, 0, tx.prepare(new) if prepared is None else prepared)], by, [[event]])


def add_widgets(tx: Transaction, new: Sequence[tuple[Widget, int]]) -> None:
    """Import new widgets, each with its download count."""
    add_drafts(tx, [draft(widget, count, tx.prepare(widget)) for widget, count in new])


def add_drafts(tx: Transaction, new: Sequence[Draft]) -> None:
    _add(tx, new, COMMAND_LINE, [_imported(it) for it in new])


def _imported(draft: Draft) -> list[PublicEvent]:
    events: list[PublicEvent] = [
        Imported(scope=draft.scope, name=draft.name, version=draft.only_version)
    ]
    if draft.revocations:
        for number, reason in draft.revoked:
            events.append(
                Revoked(scope=draft.scope, name=draft.name, version=number, reason=reason)
            )
    return events


def _add(
    tx: Transaction, new: Sequence[Draft], by: Actor, events: Sequence[Sequence[PublicEvent]]
) -> None:
    """`events` has the event of each, at the same index."""
    if not new:
        return
    require_changeable(tx)
    last_id = highest_id(tx.connection)
    numbered = list(enumerate(new, start=last_id + 1))
    insert_rows(tx.connection, widgets, [(number, *it.widget) for number, it in numbered])
    rows = [(number, *version) for number, it in numbered for version in it.versions]
    insert_rows(tx.connection, versions, rows)
    set_counts(tx, {number: it.downloads for number, it in numbered})
    add_revocations(tx, [(number, *why) for number, it in numbered for why in it.revocations])
    _add_attached(tx, [(number, *row) for number, it in numbered for row in it.attached])
    pairs = zip(numbered, events, strict=True)
    latest_seq = append_public(tx, by, [(number, it) for (number, _), its in pairs for it in its])
    records = [(number, it.prepared) for number, it in numbered]
    tx.saved(records, latest_seq, are_first=last_id == 0)


def replace_widget(
    tx: Transaction,
    old: StoredWidget,
    new: Widget,
    by: Actor,
    *events: PublicEvent,
    prepared: bytes | None = None,
) -> None:
    """Save a widget after these events. Versions may be added and changed, never removed. A
    changed text is an additional event. `prepared` are its records, if there are any yet.
    """
    require_changeable(tx)
    scope, name = str(new.scope), str(new.name)
    row = dict(zip(widgets.columns.keys(), (old.id, *widget_row(new)), strict=True))
    tx.connection.execute(sa.update(widgets).where(widgets.c.id == old.id).values(row))
    known = {version.identity: version for version in old.widget.versions}
    added = []
    for version in new.versions:
        before = known.pop(version.identity, None)
        if before is None:
            added.append(version)
        elif before != version:
            _update_version(tx, old.id, version_row(scope, name, version))
            if before.revocation != version.revocation:
                save_revocation(tx, old.id, version)
            if before.attached != version.attached:
                _save_attached(tx, old.id, version)
    if known:
        raise ValueError(f"A published version is never removed: {', '.join(known)}")
    rows = [(old.id, *version_row(scope, name, it)) for it in added]
    insert_rows(tx.connection, versions, rows)
    for version in added:
        if version.revocation is not None:
            save_revocation(tx, old.id, version)
        if version.attached:
            _save_attached(tx, old.id, version)
    if old.widget.text != new.text:
        events = (*events, TextChanged(scope=new.scope, name=new.name))
    latest_seq = append_public(tx, by, [(old.id, event) for event in events])
    tx.saved([(old.id, tx.prepare(new) if prepared is None else prepared)], latest_seq)


def _add_attached(tx: Transaction, rows: Sequence[Row]) -> None:
    """Rows of `attached_rows`, after the number of the widget."""
    insert_rows(tx.connection, version_files, [(*row, row_checksum(row)) for row in rows])


def _save_attached(tx: Transaction, widget_id: int, version: Version) -> None:
    """Store the files of a version, and no others."""
    table = version_files.c
    is_it = (table.widget_id == widget_id) & (table.identity == version.identity)
    tx.connection.execute(sa.delete(version_files).where(is_it))
    _add_attached(tx, [(widget_id, *row) for row in attached_rows(version)])


@functools.cache
def _widgets_by_key(dialect: str, count: int) -> sa.TextualSelect:
    columns = ", ".join(f"widgets.{column.name}" for column in widgets.columns)
    return sa.text(
        f"SELECT {columns} FROM {keys_looked_up(dialect, count)}"  # noqa: S608
    ).columns(*widgets.columns)


@functools.cache
def _hashes_by_key(dialect: str, count: int) -> str:
    return (
        f"SELECT found.scope, found.name, identity, sha256_hash FROM (SELECT widgets.* "  # noqa: S608
        f"FROM {keys_looked_up(dialect, count, for_driver=True)}) AS found "
        "LEFT JOIN versions ON versions.widget_id = found.id"
    )


def _update_version(tx: Transaction, widget_id: int, row: Row) -> None:
    values = dict(zip(versions.columns.keys(), (widget_id, *row), strict=True))
    tx.connection.execute(
        sa.update(versions)
        .where(versions.c.widget_id == widget_id, versions.c.identity == values["identity"])
        .values(values)
    )


def _with_versions(connection: Connection, rows: Sequence[sa.Row[Any]]) -> list[StoredWidget]:
    """Raises DataDamaged if the checksum of any row does not match."""
    return [stored_widget(it) for it in _with_parts(connection, rows)]


def _with_parts(
    connection: Connection, rows: Sequence[sa.Row[Any]], are_neighbours: bool = False
) -> list[WidgetRows]:
    """`are_neighbours`: they are sorted by number, with no other widget in between. A range query
    takes a third less time than a list of numbers.
    """
    of = {row.id: WidgetRows(tuple(row), [], [], []) for row in rows}
    ids = list(of)
    for start in range(0, len(ids), _KEYS_PER_QUERY):
        some = ids[start : start + _KEYS_PER_QUERY]

        def read(table: sa.Table, some: list[int] = some) -> Iterator[Row]:
            number = table.c.widget_id
            which = number.between(some[0], some[-1]) if are_neighbours else number.in_(some)
            return map(tuple, connection.execute(sa.select(table).where(which)).all())

        for version in read(versions):
            of[version[0]].versions.append(version)
        for revocation in read(revocations):
            of[revocation[0]].revocations.append(revocation)
        for file in read(version_files):
            of[file[0]].attached.append(file)
    return list(of.values())
