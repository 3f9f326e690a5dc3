"""Access tokens requested by programs, to be confirmed by people."""

from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ...core.actors import Limits
from ...core.db.engine import Transaction
from ..tables import oauth_grants, token_requests
from .store import limits_from, limits_values


class TokenRequest(NamedTuple):
    """`grant_id` is the OAuth sign-in that requested it. `is_agreed` None: not decided yet."""

    id: str
    grant_id: str
    account_id: int
    user_code: str
    name: str
    limits: Limits
    days: int
    expires_at: int
    is_agreed: bool | None = None


def add_token_request(tx: Transaction, request: TokenRequest) -> None:
    """Add a request, replacing an earlier one of the same sign-in."""
    # One request at a time per grant.
    grant = sa.select(oauth_grants.c.id).where(oauth_grants.c.id == request.grant_id)
    tx.connection.execute(grant.with_for_update(key_share=True))
    over = (token_requests.c.expires_at <= tx.at_ms) | (
        token_requests.c.grant_id == request.grant_id
    )
    tx.connection.execute(sa.delete(token_requests).where(over))
    values = request._asdict()
    limits = values.pop("limits")
    tx.connection.execute(sa.insert(token_requests).values(**values, **limits_values(limits)))


def find_token_request(connection: Connection, id_: str, now_ms: int) -> TokenRequest | None:
    return _first(connection, token_requests.c.id == id_, now_ms)


def find_token_request_by_code(
    connection: Connection, account_id: int, user_code: str, now_ms: int
) -> TokenRequest | None:
    """A request that this account has not decided yet."""
    here = sa.and_(
        token_requests.c.account_id == account_id,
        token_requests.c.user_code == user_code,
        token_requests.c.is_agreed.is_(None),
    )
    return _first(connection, here, now_ms)


def decide_token_request(tx: Transaction, id_: str, *, is_agreed: bool) -> bool:
    """False if it was decided before, or no longer exists."""
    is_open = (token_requests.c.id == id_) & token_requests.c.is_agreed.is_(None)
    decided = sa.update(token_requests).where(is_open).values(is_agreed=is_agreed)
    return tx.connection.execute(decided).rowcount > 0


def remove_token_request(tx: Transaction, id_: str) -> bool:
    """False if it no longer exists."""
    here = token_requests.c.id == id_
    return tx.connection.execute(sa.delete(token_requests).where(here)).rowcount > 0


def _first(
    connection: Connection, which: sa.ColumnElement[bool], now_ms: int
) -> TokenRequest | None:
    query = sa.select(token_requests).where(which, token_requests.c.expires_at > now_ms)
    row = connection.execute(query).first()
    return _request_from(row) if row is not None else None


def _request_from(row: Any) -> TokenRequest:
    return TokenRequest(
        id=row.id,
        grant_id=row.grant_id,
        account_id=row.account_id,
        user_code=row.user_code,
        name=row.name,
        limits=limits_from(row),
        days=row.days,
        expires_at=row.expires_at,
        is_agreed=row.is_agreed,
    )
