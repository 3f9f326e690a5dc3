"""Access tokens for machines, and requests of programs for one, which people confirm."""

from typing import Any, NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ...core.actors import Account, Limits, Right
from ...core.db import rows
from ...core.db.engine import Transaction
from ..store import find_account_by_id
from ..tables import access_tokens, oauth_grants, token_requests

# The encoder does not know Scope, a subclass of str.
_encode = msgspec.json.Encoder(enc_hook=str).encode
_decode = msgspec.json.Decoder(tuple[str, ...]).decode


class Token(NamedTuple):
    """`grant_id` is the OAuth sign-in that requested it: if that is revoked, so is the token."""

    id: str
    account_id: int
    name: str
    limits: Limits
    created_at: int
    expires_at: int
    last_used_at: int | None = None
    grant_id: str | None = None


class WantedToken(NamedTuple):
    """A token that a person wants to have."""

    name: str
    limits: Limits
    days: int


class TokenRequest(NamedTuple):
    """`grant_id` is the OAuth sign-in that requested it. `is_agreed` None: not decided yet."""

    id: str
    grant_id: str
    account_id: int
    user_code: str
    wanted: WantedToken
    expires_at: int
    is_agreed: bool | None = None


def add_token(tx: Transaction, token: Token, secret_hash: str) -> None:
    values = token._asdict() | {"secret_hash": secret_hash}
    rows.insert(tx, access_tokens, values | _limits_values(values.pop("limits")))


def find_token(connection: Connection, secret_hash: str) -> tuple[Token, Account] | None:
    """The token and its account, whether valid or not."""
    query = sa.select(access_tokens).where(access_tokens.c.secret_hash == secret_hash)
    row = connection.execute(query).first()
    account = find_account_by_id(connection, row.account_id) if row is not None else None
    return (_token_from(row), account) if account is not None else None


def list_tokens(connection: Connection, account_id: int, now_ms: int) -> list[Token]:
    is_valid = access_tokens.c.expires_at > now_ms
    query = sa.select(access_tokens).where(access_tokens.c.account_id == account_id, is_valid)
    ordered = query.order_by(access_tokens.c.created_at, access_tokens.c.id)
    return [_token_from(row) for row in connection.execute(ordered)]


def touch_token(tx: Transaction, id_: str) -> None:
    rows.update(tx, access_tokens, {"last_used_at": tx.at_ms}, id=id_)


def remove_token(tx: Transaction, account_id: int, id_: str) -> bool:
    return rows.delete(tx, access_tokens, account_id=account_id, id=id_)


def remove_tokens(tx: Transaction, account_id: int) -> None:
    rows.delete(tx, access_tokens, account_id=account_id)


def add_token_request(tx: Transaction, request: TokenRequest) -> None:
    """Add a request, replacing an earlier one of the same sign-in."""
    # One request at a time per grant.
    grant = sa.select(oauth_grants.c.id).where(oauth_grants.c.id == request.grant_id)
    tx.connection.execute(grant.with_for_update(key_share=True))
    is_over = token_requests.c.expires_at <= tx.at_ms
    is_earlier = token_requests.c.grant_id == request.grant_id
    rows.delete(tx, token_requests, is_over | is_earlier)
    values = request._asdict() | request.wanted._asdict() | _limits_values(request.wanted.limits)
    del values["wanted"], values["limits"]
    rows.insert(tx, token_requests, values)


def find_token_request(connection: Connection, id_: str, now_ms: int) -> TokenRequest | None:
    return _first_request(connection, token_requests.c.id == id_, now_ms)


def find_token_request_by_code(
    connection: Connection, account_id: int, user_code: str, now_ms: int
) -> TokenRequest | None:
    """A request that this account has not decided yet."""
    here = sa.and_(
        token_requests.c.account_id == account_id,
        token_requests.c.user_code == user_code,
        token_requests.c.is_agreed.is_(None),
    )
    return _first_request(connection, here, now_ms)


def decide_token_request(tx: Transaction, id_: str, *, is_agreed: bool) -> bool:
    """False if it was decided before, or no longer exists."""
    is_open = token_requests.c.is_agreed.is_(None)
    return rows.update(tx, token_requests, {"is_agreed": is_agreed}, is_open, id=id_)


def remove_token_request(tx: Transaction, id_: str) -> bool:
    """False if it no longer exists."""
    return rows.delete(tx, token_requests, id=id_)


def _first_request(
    connection: Connection, which: sa.ColumnElement[bool], now_ms: int
) -> TokenRequest | None:
    query = sa.select(token_requests).where(which, token_requests.c.expires_at > now_ms)
    row = connection.execute(query).first()
    if row is None:
        return None
    wanted = WantedToken(row.name, _limits_from(row), row.days)
    subject = (row.id, row.grant_id, row.account_id, row.user_code)
    return TokenRequest(*subject, wanted, row.expires_at, row.is_agreed)


def _limits_values(limits: Limits) -> dict[str, str]:
    """The columns with the permissions of a token."""
    return {
        "actions": _encode(limits.rights).decode(),
        "scopes": _encode(limits.scopes).decode(),
        "widgets": _encode(limits.widgets).decode(),
    }


def _limits_from(row: Any) -> Limits:
    rights = tuple(map(Right, _decode(row.actions)))
    return Limits(rights=rights, scopes=_decode(row.scopes), widgets=_decode(row.widgets))


def _token_from(row: Any) -> Token:
    times = (row.created_at, row.expires_at, row.last_used_at)
    return Token(row.id, row.account_id, row.name, _limits_from(row), *times, row.grant_id)
