"""Collections in the store: a row is a whole collection."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy import BigInteger, Boolean, Column, Integer, Table, Text
from sqlalchemy.engine import Connection

from widget_contract.names import is_widget_key

from ..catalog.store.tables import widgets
from ..core.db import rows
from ..core.db.engine import Store
from ..core.db.schema import Name, metadata
from ..core.db.transaction import Transaction

collections = Table(
    "collections",
    metadata,
    Column("slug", Name, primary_key=True),
    Column("title", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("widgets", Text, nullable=False),  # A JSON list of `scope/name`.
    Column("is_featured", Boolean, nullable=False),
    Column("position", Integer, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("changed_at", BigInteger, nullable=False),
)


class Collection(NamedTuple):
    """`widgets` are `scope/name`, in order; some may not be listed. `text` is Markdown."""

    slug: str
    title: str
    text: str
    widgets: tuple[str, ...]
    is_featured: bool


_SHOWN = [collections.c[it] for it in Collection._fields]
_decode = msgspec.json.Decoder(tuple[str, ...]).decode


def list_all(connection: Connection) -> list[Collection]:
    """In the operator's order."""
    query = sa.select(*_SHOWN).order_by(collections.c.position, collections.c.slug)
    return [_collection_of(*row) for row in connection.execute(query)]


def read_collections(store: Store) -> tuple[Collection, ...]:
    with store.reading() as connection:
        return tuple(list_all(connection))


def find_collection(connection: Connection, slug: str) -> Collection | None:
    query = sa.select(*_SHOWN).where(collections.c.slug == slug)
    row = connection.execute(query).first()
    return None if row is None else _collection_of(*row)


def find_listed(connection: Connection, keys: Sequence[str]) -> dict[str, bool]:
    """Which of these widgets exist, and whether they are listed."""
    pairs = [tuple(it.split("/")) for it in keys if is_widget_key(it)]
    if not pairs:
        return {}
    scope, name = widgets.c.scope, widgets.c.name
    query = sa.select(scope, name, widgets.c.is_listed).where(sa.tuple_(scope, name).in_(pairs))
    return {f"{row[0]}/{row[1]}": bool(row[2]) for row in connection.execute(query)}


def add_collection(tx: Transaction, collection: Collection, position: int) -> None:
    times = {"created_at": tx.at_ms, "changed_at": tx.at_ms}
    rows.insert(tx, collections, _row(collection) | times | {"position": position})


def replace_collection(tx: Transaction, collection: Collection) -> None:
    rows.update(tx, collections, _row(collection) | {"changed_at": tx.at_ms}, slug=collection.slug)


def remove_collection(tx: Transaction, slug: str) -> None:
    rows.delete(tx, collections, slug=slug)


def set_order(tx: Transaction, slugs: list[str]) -> None:
    for position, slug in enumerate(slugs, 1):
        rows.update(tx, collections, {"position": position}, slug=slug)


def _collection_of(slug: str, title: str, text: str, keys: str, is_featured: bool) -> Collection:
    return Collection(slug, title, text, _decode(keys), is_featured)


def _row(collection: Collection) -> dict[str, object]:
    return collection._asdict() | {"widgets": msgspec.json.encode(collection.widgets).decode()}
