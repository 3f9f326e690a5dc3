"""Access tokens for machines."""

from typing import Any, NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ...core.actors import Account, Limits, Right
from ...core.db.engine import Transaction
from ..store import find_account_by_id
from ..tables import access_tokens

# The encoder does not know Scope, a subclass of str.
_encode = msgspec.json.Encoder(enc_hook=str).encode
_decode = msgspec.json.Decoder(tuple[str, ...]).decode


class Token(NamedTuple):
    id: str
    account_id: int
    name: str
    limits: Limits
    created_at: int
    expires_at: int
    last_used_at: int | None
    grant_id: str | None = None


def add_token(
    tx: Transaction,
    *,
    id_: str,
    secret_hash: str,
    account_id: int,
    name: str,
    limits: Limits,
    expires_at: int,
    grant_id: str | None = None,
) -> Token:
    """`grant_id` is the OAuth sign-in that requested it: if that is revoked, so is the token."""
    tx.connection.execute(
        sa.insert(access_tokens).values(
            id=id_,
            secret_hash=secret_hash,
            account_id=account_id,
            name=name,
            created_at=tx.at_ms,
            expires_at=expires_at,
            grant_id=grant_id,
            **limits_values(limits),
        )
    )
    return Token(id_, account_id, name, limits, tx.at_ms, expires_at, None, grant_id)


def find_token(connection: Connection, secret_hash: str) -> tuple[Token, Account] | None:
    """The token and its account, whether valid or not."""
    query = sa.select(access_tokens).where(access_tokens.c.secret_hash == secret_hash)
    row = connection.execute(query).first()
    account = find_account_by_id(connection, row.account_id) if row is not None else None
    return (_token_from(row), account) if account is not None else None


def list_tokens(connection: Connection, account_id: int, now_ms: int) -> list[Token]:
    query = (
        sa.select(access_tokens)
        .where(access_tokens.c.account_id == account_id, access_tokens.c.expires_at > now_ms)
        .order_by(access_tokens.c.created_at, access_tokens.c.id)
    )
    return [_token_from(row) for row in connection.execute(query)]


def touch_token(tx: Transaction, id_: str) -> None:
    used = sa.update(access_tokens).where(access_tokens.c.id == id_)
    tx.connection.execute(used.values(last_used_at=tx.at_ms))


def remove_token(tx: Transaction, account_id: int, id_: str) -> bool:
    here = sa.and_(access_tokens.c.account_id == account_id, access_tokens.c.id == id_)
    return tx.connection.execute(sa.delete(access_tokens).where(here)).rowcount > 0


def has_expired_tokens(connection: Connection, now_ms: int) -> bool:
    query = sa.select(access_tokens.c.id).where(access_tokens.c.expires_at <= now_ms).limit(1)
    return connection.execute(query).first() is not None


def remove_expired_tokens(tx: Transaction) -> None:
    tx.connection.execute(sa.delete(access_tokens).where(access_tokens.c.expires_at <= tx.at_ms))


def remove_tokens(tx: Transaction, account_id: int) -> None:
    tx.connection.execute(sa.delete(access_tokens).where(access_tokens.c.account_id == account_id))


def limits_values(limits: Limits) -> dict[str, str]:
    """The columns with the permissions of a token."""
    return {
        "actions": _encode(limits.rights).decode(),
        "scopes": _encode(limits.scopes).decode(),
        "widgets": _encode(limits.widgets).decode(),
    }


def limits_from(row: Any) -> Limits:
    return Limits(
        rights=tuple(map(Right, _decode(row.actions))),
        scopes=_decode(row.scopes),
        widgets=_decode(row.widgets),
    )


def _token_from(row: Any) -> Token:
    times = (row.created_at, row.expires_at, row.last_used_at)
    return Token(row.id, row.account_id, row.name, limits_from(row), *times, row.grant_id)
