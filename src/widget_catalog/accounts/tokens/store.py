"""Access tokens for machines."""

from typing import Any, NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ...core.actors import Account, Limits, Right
from ...core.db import rows
from ...core.db.engine import Transaction
from ..store import find_account_by_id
from ..tables import access_tokens

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


_decode_wanted = msgspec.json.Decoder(WantedToken).decode


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


def encode_wanted(wanted: WantedToken) -> str:
    return _encode(wanted).decode()


def decode_wanted(text: str) -> WantedToken:
    return _decode_wanted(text)


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
