"""Recent publishes of accounts, for quotas."""

from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ..core.db.engine import Transaction
from .tables import publications


class Publication(NamedTuple):
    """One published version, without its name."""

    published_at: int
    size_bytes: int
    is_new_widget: bool


def add_publication(
    tx: Transaction, account_id: int, size_bytes: int, *, is_new_widget: bool
) -> None:
    row = {
        "account_id": account_id,
        "published_at": tx.at_ms,
        "size_bytes": size_bytes,
        "is_new_widget": is_new_widget,
    }
    tx.connection.execute(sa.insert(publications).values(row))


def list_publications(
    connection: Connection, account_id: int, since: int, now_ms: int
) -> list[Publication]:
    """Those of an account after an instant, oldest first.

    One dated after `now_ms` is ignored: the clock was ahead when it was published.
    """
    columns = (
        publications.c.published_at,
        publications.c.size_bytes,
        publications.c.is_new_widget,
    )
    query = (
        sa.select(*columns)
        .where(
            publications.c.account_id == account_id,
            publications.c.published_at > since,
            publications.c.published_at <= now_ms,
        )
        .order_by(publications.c.published_at, publications.c.id)
    )
    return [Publication(*row) for row in connection.execute(query)]


def remove_publications(tx: Transaction, until: int) -> None:
    """Remove those that no quota needs any more, of all accounts."""
    tx.connection.execute(sa.delete(publications).where(publications.c.published_at <= until))
