"""Whether this catalog is a mirror, of which upstream, and what it still has to copy."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ..core.db.bulk import insert_rows
from ..core.db.engine import Transaction
from .tables import mirror_tasks, mirrors

_THE_ONE = 1

_decode_texts = msgspec.json.Decoder(tuple[str, ...]).decode


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
    row = connection.execute(sa.select(mirrors)).first()
    if row is None:
        return None
    return Mirror(
        row.url,
        row.mirror_id,
        _decode_texts(row.through),
        _decode_texts(row.scopes),
        row.only_official,
        row.seq,
        row.checked_at,
    )


def save_mirror(tx: Transaction, mirror: Mirror) -> None:
    remove_mirror(tx)
    encoded = {
        "id": _THE_ONE,
        **mirror._asdict(),
        "through": msgspec.json.encode(mirror.through).decode(),
        "scopes": msgspec.json.encode(mirror.scopes).decode(),
    }
    tx.connection.execute(sa.insert(mirrors).values(encoded))


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
    for scope, name in keys:
        tx.connection.execute(
            sa.delete(mirror_tasks).where(
                mirror_tasks.c.scope == scope, mirror_tasks.c.name == name
            )
        )
