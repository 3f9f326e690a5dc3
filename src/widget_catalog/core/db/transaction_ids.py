"""Ids of transactions on PostgreSQL, by which others find what was written in them."""

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from .engine import Store


def current_transaction(connection: Connection) -> int | None:
    """The id of this transaction, by which others find its writes; none on SQLite."""
    if connection.dialect.name != "postgresql":
        return None
    return int(connection.execute(sa.text("SELECT pg_current_xact_id()::text")).scalar_one())


def oldest_transaction(connection: Connection) -> int:
    """Every transaction with a smaller id has ended, and is visible in this snapshot."""
    query = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text"
    return int(connection.execute(sa.text(query)).scalar_one())


def next_transaction(connection: Connection) -> int:
    """No transaction has this id or a larger one yet."""
    query = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text"
    return int(connection.execute(sa.text(query)).scalar_one())


def transaction_horizon(store: Store) -> int:
    """The first transaction id whose writes may not have been read yet."""
    with store.reading() as connection:
        return oldest_transaction(connection)
