"""Whether this catalog is a mirror, of which upstream, and what it still has to copy."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy import BigInteger, Boolean, Column, Table, Text
from sqlalchemy.engine import Connection

from ..core.db.bulk import insert_rows
from ..core.db.engine import Transaction
from ..core.db.schema import Name, Number, metadata

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
    tx.connection.execute(sa.insert(mirrors).values(row))


def remove_mirror(tx: Transaction) -> None:
    """Make it an ordinary catalog."""
    tx.connection.execute(sa.delete(mirrors))


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
    tx.connection.execute(sa.delete(mirror_tasks).where(key.in_(keys)))
