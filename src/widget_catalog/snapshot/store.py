"""Which snapshot was last loaded into this catalog, if any."""

from typing import NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy import BigInteger, Column, Table, Text
from sqlalchemy.engine import Connection

from ..core.db import rows
from ..core.db.engine import Transaction
from ..core.db.schema import Number, metadata

# The snapshot that was loaded last, if any: which state of which catalog.
loaded_snapshots = Table(
    "loaded_snapshots",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("origin", Text, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("position", Text, nullable=False),
    Column("scopes", Text),
)

_THE_ONE = 1


class LoadedSnapshot(NamedTuple):
    origin: str
    seq: int
    position: str
    scopes: list[str] | None


def find_loaded(connection: Connection) -> LoadedSnapshot | None:
    row = connection.execute(sa.select(loaded_snapshots)).first()
    if row is None:
        return None
    scopes = None if row.scopes is None else msgspec.json.decode(row.scopes, type=list[str])
    return LoadedSnapshot(row.origin, row.seq, row.position, scopes)


def save_loaded(tx: Transaction, loaded: LoadedSnapshot | None) -> None:
    rows.delete(tx, loaded_snapshots)
    if loaded is not None:
        scopes = None if loaded.scopes is None else msgspec.json.encode(loaded.scopes).decode()
        row = loaded._asdict() | {"id": _THE_ONE, "scopes": scopes}
        rows.insert(tx, loaded_snapshots, row)
