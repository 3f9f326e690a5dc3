"""Whether this catalog is a mirror, of which upstream, and what it still has to copy; and what its
audit log says about it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy import BigInteger, Boolean, Column, Table, Text
from sqlalchemy.engine import Connection

from ..catalog.model.events import Event
from ..catalog.store.events import append, describe_copying, find_upstream
from ..catalog.store.scopes import all_owned_scopes
from ..catalog.store.widgets import count_widgets
from ..core.actors import COMMAND_LINE
from ..core.clock import from_ms, iso
from ..core.db import rows
from ..core.db.bulk import insert_rows
from ..core.db.engine import Snapshot, Store, Transaction
from ..core.db.schema import Name, Number, metadata
from ..core.errors import MirrorRefused
from ..core.hooks import Hooks


class MirroringBegun(Event, frozen=True):
    """The catalog became a copy of another one."""

    kind = "mirroring begun"
    action = "begin mirroring"

    url: str


class CatalogMirrored(Event, frozen=True):
    """A round copied the upstream's changes; with a scope, those in it, for the owner of the
    scope.
    """

    kind = "mirrored"
    action = "mirror"

    url: str
    widgets_changed: int


class MirroringEnded(Event, frozen=True):
    kind = "mirroring ended"
    action = "end mirroring"

    url: str


# At most one row. If there is one, the catalog is a mirror, and nothing else changes its widgets.
mirrors = Table(
    "mirrors",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("url", Text, nullable=False),
    Column("mirror_id", Text, nullable=False),
    # If the upstream catalog is a mirror, the ids of the mirrors it is copied from, as JSON.
    Column("through", Text, nullable=False),
    Column("scopes", Text, nullable=False),
    Column("only_official", Boolean, nullable=False),
    # The last processed change of the upstream catalog; null: list everything.
    Column("seq", BigInteger),
    Column("checked_at", BigInteger),
)

# Widgets that have to be compared with the upstream catalog.
mirror_tasks = Table(
    "mirror_tasks",
    metadata,
    Column("scope", Name, primary_key=True),
    Column("name", Name, primary_key=True),
)

_THE_ONE = 1
_SHOWN = 5
_LISTS = ("through", "scopes")

_decode_list = msgspec.json.Decoder(tuple[str, ...]).decode


class Mirror(NamedTuple):
    """`seq` is None before the first copy, and if everything must be listed again."""

    url: str
    mirror_id: str
    through: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    only_official: bool = False
    seq: int | None = None
    checked_at: int | None = None


def find_mirror(connection: Connection) -> Mirror | None:
    row = connection.execute(sa.select(mirrors)).mappings().first()
    if row is None:
        return None
    values = {name: row[name] for name in Mirror._fields}
    return Mirror(**values | {name: _decode_list(row[name]) for name in _LISTS})


def save_mirror(tx: Transaction, mirror: Mirror) -> None:
    remove_mirror(tx)
    lists = {name: msgspec.json.encode(getattr(mirror, name)).decode() for name in _LISTS}
    row = mirror._asdict() | lists | {"id": _THE_ONE}
    rows.insert(tx, mirrors, row)


def remove_mirror(tx: Transaction) -> None:
    """Make it an ordinary catalog."""
    rows.delete(tx, mirrors)


def add_tasks(tx: Transaction, keys: Iterable[tuple[str, str]]) -> None:
    known = set(list_tasks(tx.connection))
    insert_rows(tx.connection, mirror_tasks, sorted(set(keys) - known))


def list_tasks(connection: Connection) -> list[tuple[str, str]]:
    query = sa.select(mirror_tasks).order_by(mirror_tasks.c.scope, mirror_tasks.c.name)
    return [(scope, name) for scope, name in connection.execute(query)]


def count_tasks(connection: Connection) -> int:
    return connection.execute(sa.select(sa.func.count()).select_from(mirror_tasks)).scalar_one()


def finish_tasks(tx: Transaction, keys: Sequence[tuple[str, str]]) -> None:
    key = sa.tuple_(mirror_tasks.c.scope, mirror_tasks.c.name)
    rows.delete(tx, mirror_tasks, key.in_(keys))


class Status(NamedTuple):
    mirror: Mirror
    tasks: int
    """Widgets that are still to be compared with those of the other catalog."""

    def describe(self) -> str:
        mirror, at = self.mirror, self.mirror.checked_at
        if mirror.seq is None or at is None:
            state = "its first copy is not complete"
        else:
            state = f"last checked at {iso(from_ms(at))}, up to change {mirror.seq}"
        left = "1 widget is" if self.tasks == 1 else f"{self.tasks:,} widgets are"
        waiting = f"; {left} still to be copied" if self.tasks else ""
        return f"A mirror of {mirror.url}: {state}{waiting}."


def find_status(store: Store) -> Status | None:
    with store.reading() as connection:
        mirror = find_mirror(connection)
        return None if mirror is None else Status(mirror, count_tasks(connection))


def end_mirroring(store: Store) -> Mirror | None:
    """Make it an ordinary catalog, with everything that was copied."""
    with store.publishing() as tx:
        mirror = find_mirror(tx.connection)
        remove_mirror(tx)
        if mirror is not None:
            append(tx, COMMAND_LINE, MirroringEnded(url=mirror.url))
    return mirror


def require_empty(tx: Transaction) -> None:
    """Raises MirrorRefused if something would be mixed with the copy: widgets, or owned scopes."""
    widgets, owned = count_widgets(tx.connection), all_owned_scopes(tx.connection)
    if widgets:
        whose = f"{widgets:,} widgets"
    elif owned:
        shown = ", ".join(sorted(owned)[:_SHOWN]) + (", …" if len(owned) > _SHOWN else "")
        whose = f"accounts or organizations ({shown})"
    else:
        return
    raise MirrorRefused(
        f"This catalog has {whose} of its own. A mirror needs an empty or new data folder."
    )


def record_round(store: Store, url: str, changed: Mapping[str, int]) -> None:
    """In the audit log; in that of each owned scope, too. `changed`: how many widgets, by scope."""
    total = sum(changed.values())
    if not total:
        return
    with store.writing() as tx:
        append(tx, COMMAND_LINE, CatalogMirrored(url=url, widgets_changed=total))
        for scope in sorted(all_owned_scopes(tx.connection)):
            if count := changed.get(scope):
                event = CatalogMirrored(scope=scope, url=url, widgets_changed=count)
                append(tx, COMMAND_LINE, event)


def _describe(store: Store) -> str | None:
    status = find_status(store)
    return None if status is None else status.describe()


def _find_url(connection: Snapshot) -> str | None:
    mirror = find_mirror(connection)
    return None if mirror is None else mirror.url


HOOKS: Hooks = {find_upstream: _find_url, describe_copying: _describe}
