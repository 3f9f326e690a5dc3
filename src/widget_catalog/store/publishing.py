"""Publish requests, from the request to its confirmation or expiry."""

from collections.abc import Sequence
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from .engine import Transaction
from .schema import publish_requests, versions


class PublishRequest(NamedTuple):
    id: str
    account_id: int
    scope: str
    name: str
    version: str
    bundle_size: int
    sha256_hash: str
    css_size: int | None
    css_sha256_hash: str | None
    manifest: str
    beside: str
    created_at: int
    expires_at: int
    confirmed_at: int | None


def add_request(tx: Transaction, request: PublishRequest) -> None:
    tx.connection.execute(sa.insert(publish_requests).values(request._asdict()))


def find_request(connection: Connection, id_: str) -> PublishRequest | None:
    if not id_.isalnum():  # External input, which a database may reject.
        return None
    query = sa.select(publish_requests).where(publish_requests.c.id == id_)
    row = connection.execute(query).first()
    return PublishRequest(*row) if row is not None else None


def confirm_request(tx: Transaction, id_: str) -> None:
    done = sa.update(publish_requests).where(publish_requests.c.id == id_)
    tx.connection.execute(done.values(confirmed_at=tx.at_ms))


def count_open_requests(connection: Connection, account_id: int, now_ms: int) -> int:
    query = sa.select(sa.func.count()).where(
        publish_requests.c.account_id == account_id,
        publish_requests.c.confirmed_at.is_(None),
        publish_requests.c.expires_at > now_ms,
    )
    return int(connection.execute(query).scalar_one())


def end_open_request(tx: Transaction, account_id: int, scope: str, name: str, version: str) -> bool:
    """Expire the oldest open request of an account for this version; returns whether there was
    one.

    It is removed with its uploads, like all expired requests.
    """
    table = publish_requests.c
    query = sa.select(table.id).where(
        table.account_id == account_id,
        table.scope == scope,
        table.name == name,
        table.version == version,
        table.confirmed_at.is_(None),
        table.expires_at > tx.at_ms,
    )
    id_ = tx.connection.execute(query.order_by(table.created_at, table.id).limit(1)).scalar()
    if id_ is None:
        return False
    end_request(tx, id_)
    return True


def end_request(tx: Transaction, id_: str) -> None:
    """Expire it now."""
    ended = sa.update(publish_requests).where(publish_requests.c.id == id_)
    tx.connection.execute(ended.values(expires_at=tx.at_ms))


def list_requests(connection: Connection) -> list[PublishRequest]:
    return [PublishRequest(*row) for row in connection.execute(sa.select(publish_requests))]


def remove_expired_requests(tx: Transaction) -> list[PublishRequest]:
    """Remove and return expired requests."""
    over = publish_requests.c.expires_at <= tx.at_ms
    query = sa.select(publish_requests).where(over)
    removed = [PublishRequest(*row) for row in tx.connection.execute(query)]
    if removed:
        tx.connection.execute(sa.delete(publish_requests).where(over))
    return removed


def is_referred_to(connection: Connection, sha256_hash: str, kind: str) -> bool:
    """Whether any version refers to this stored bundle or style sheet."""
    return bool(find_referred_to(connection, [sha256_hash], kind))


def find_referred_to(connection: Connection, hashes: Sequence[str], kind: str) -> set[str]:
    """Which of these stored bundles or style sheets any version refers to.

    In batches: SQLite allows at most 32,766 parameters per statement.
    """
    column = versions.c.css_sha256_hash if kind == "css" else versions.c.sha256_hash
    query = sa.select(column).distinct().where(column.in_(hashes))
    if kind != "css":
        query = query.where(versions.c.bundle_url.is_(None))
    return set(connection.execute(query).scalars())
