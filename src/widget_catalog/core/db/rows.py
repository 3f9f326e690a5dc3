"""Single rows of a table, by the values of its columns: what most functions of a store do."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from .engine import Store, Transaction

T = TypeVar("T")
Clause = sa.ColumnElement[bool]


def insert(tx: Transaction, table: sa.Table, values: Mapping[str, object]) -> None:
    tx.connection.execute(sa.insert(table).values(dict(values)))


def update(
    tx: Transaction, table: sa.Table, new: Mapping[str, object], *which: Clause, **values: object
) -> bool:
    """Whether there was such a row."""
    query = sa.update(table).where(*which, *_equal(table, values)).values(dict(new))
    return tx.connection.execute(query).rowcount > 0


def delete(tx: Transaction, table: sa.Table, *which: Clause, **values: object) -> bool:
    """Whether there was such a row."""
    query = sa.delete(table).where(*which, *_equal(table, values))
    return tx.connection.execute(query).rowcount > 0


def find(
    connection: Connection,
    make: Callable[..., T],
    table: sa.Table,
    *,
    locks: bool = False,
    **values: object,
) -> T | None:
    """The row with these values, made from all its columns; locked until the transaction ends, if
    so desired.
    """
    query = sa.select(table).where(*_equal(table, values))
    row = connection.execute(query.with_for_update() if locks else query).first()
    return make(*row) if row is not None else None


def read_page(
    connection: Connection, query: sa.Select[Any], page: int, limit: int
) -> tuple[Sequence[Any], int]:
    """A page of the rows, numbered from 1; and the total."""
    count = sa.select(sa.func.count()).select_from(query.order_by(None).subquery())
    found = connection.execute(query.limit(limit).offset((page - 1) * limit)).all()
    return found, connection.execute(count).scalar_one()


def count(connection: Connection, *which: Clause) -> int:
    """How many rows satisfy this."""
    return connection.execute(sa.select(sa.func.count()).where(*which)).scalar_one()


def exists(connection: Connection, *which: Clause) -> bool:
    """Whether any row satisfies this."""
    return bool(connection.execute(sa.select(sa.exists().where(*which))).scalar())


def remove_if_any(store: Store, table: sa.Table, *which: Clause) -> None:
    """Looks first, so that nobody waits for the writer lock in vain."""
    with store.reading() as connection:
        if not exists(connection, *which):
            return
    with store.writing() as tx:
        delete(tx, table, *which)


def _equal(table: sa.Table, values: Mapping[str, Any]) -> list[Clause]:
    return [table.c[name] == value for name, value in values.items()]
