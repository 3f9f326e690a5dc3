"""State of the OAuth server: grants, codes, tokens, pending devices. Secrets are hashed."""

from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ...core.actors import Account
from ...core.db import rows
from ...core.db.engine import Transaction
from ..store import account_from
from ..tables import access_tokens, accounts, oauth_codes, oauth_devices, oauth_grants, oauth_tokens

# How long a pair that was exchanged for a new one is still accepted.
GRACE_MS = 30_000
# How long a code that people type is valid, and how often a program asks for the decision.
DEVICE_S = 900
INTERVAL_S = 5


class Code(NamedTuple):
    """An authorization code. Its grant is created when it is exchanged."""

    code_hash: str
    grant_id: str
    account_id: int
    client_id: str
    redirect_uri: str
    code_challenge: str
    scope: str
    expires_at: int
    used_at: int | None

    # The rest is Authlib's interface.

    @property
    def code_challenge_method(self) -> str:
        return "S256"

    def get_redirect_uri(self) -> str:
        return self.redirect_uri

    def get_scope(self) -> str:
        return self.scope


class TokenPair(NamedTuple):
    """`successor` is the pair that replaced it, encrypted, for a short while."""

    access_hash: str
    refresh_hash: str
    grant_id: str
    issued_at: int
    access_expires_at: int
    refresh_expires_at: int
    rotated_at: int | None
    successor: str | None = None


class Grant(NamedTuple):
    """One sign-in of one client for one account; ending it ends all its tokens."""

    id: str
    account_id: int
    client_id: str
    scope: str
    created_at: int


class Device(NamedTuple):
    """A device waiting for authorization. `account_id` is the account that granted it.

    With `wanted_token`, the program of the sign-in `grant_id` waits for that access token instead.
    """

    device_hash: str
    user_code: str
    client_id: str
    scope: str
    expires_at: int
    last_polled_at: int | None
    account_id: int | None
    is_denied: bool
    wanted_token: str | None = None
    grant_id: str | None = None


def add_code(tx: Transaction, code: Code) -> None:
    rows.insert(tx, oauth_codes, code._asdict())


def find_code(connection: Connection, code_hash: str) -> Code | None:
    """Locks it until this transaction ends."""
    return rows.find(connection, Code, oauth_codes, locks=True, code_hash=code_hash)


def use_code(tx: Transaction, code_hash: str) -> None:
    rows.update(tx, oauth_codes, {"used_at": tx.at_ms}, code_hash=code_hash)


def add_grant(tx: Transaction, grant: Grant) -> None:
    rows.insert(tx, oauth_grants, grant._asdict())


def find_grant(connection: Connection, id_: str, *, locks: bool = False) -> Grant | None:
    return rows.find(connection, Grant, oauth_grants, locks=locks, id=id_)


def remove_grant(tx: Transaction, id_: str) -> None:
    """End a sign-in, with its tokens and the access tokens it requested."""
    rows.delete(tx, oauth_grants, id=id_)
    # After the grant: a token that is issued concurrently then exists already.
    rows.delete(tx, access_tokens, grant_id=id_)


def list_grants(connection: Connection, account_id: int, now_ms: int) -> list[Grant]:
    """The sign-ins of an account that can still be refreshed."""
    alive = sa.exists().where(
        oauth_tokens.c.grant_id == oauth_grants.c.id,
        oauth_tokens.c.rotated_at.is_(None),
        oauth_tokens.c.refresh_expires_at > now_ms,
    )
    query = sa.select(oauth_grants).where(oauth_grants.c.account_id == account_id, alive)
    ordered = query.order_by(oauth_grants.c.created_at, oauth_grants.c.id)
    return [Grant(*row) for row in connection.execute(ordered)]


def remove_grants(tx: Transaction, account_id: int) -> None:
    """End every sign-in of an account, including pending ones."""
    # Grants last: if a code is exchanged concurrently, its grant exists once the code is gone.
    for table in (oauth_codes, oauth_devices, oauth_grants):
        rows.delete(tx, table, account_id=account_id)


def add_pair(tx: Transaction, pair: TokenPair) -> None:
    rows.insert(tx, oauth_tokens, pair._asdict())


def find_pair_by_refresh(connection: Connection, refresh_hash: str) -> TokenPair | None:
    """Locks it until this transaction ends."""
    return rows.find(connection, TokenPair, oauth_tokens, locks=True, refresh_hash=refresh_hash)


def find_pair(connection: Connection, secret_hash: str) -> TokenPair | None:
    """By either of its two secrets."""
    by_refresh = rows.find(connection, TokenPair, oauth_tokens, refresh_hash=secret_hash)
    return by_refresh or rows.find(connection, TokenPair, oauth_tokens, access_hash=secret_hash)


def rotate_pair(tx: Transaction, access_hash: str) -> None:
    """Mark a pair as exchanged for a new one: it is valid for `GRACE_MS` from now on."""
    rows.update(tx, oauth_tokens, {"rotated_at": tx.at_ms}, access_hash=access_hash)


def keep_successor(tx: Transaction, access_hash: str, successor: str) -> None:
    rows.update(tx, oauth_tokens, {"successor": successor}, access_hash=access_hash)


def has_successors(connection: Connection, rotated_before: int) -> bool:
    return rows.exists(connection, _succeeded_before(rotated_before))


def remove_successors(tx: Transaction, rotated_before: int) -> None:
    rows.update(tx, oauth_tokens, {"successor": None}, _succeeded_before(rotated_before))


def find_access(
    connection: Connection, access_hash: str, now_ms: int
) -> tuple[Grant, Account] | None:
    """The sign-in and the account of an access token, while it is valid.

    A refresh leaves the previous one valid for some seconds: another process may be using it.
    """
    query = (
        sa.select(oauth_tokens.c.grant_id, accounts)
        .select_from(oauth_tokens.join(oauth_grants).join(accounts))
        .where(
            oauth_tokens.c.access_hash == access_hash,
            oauth_tokens.c.access_expires_at > now_ms,
            oauth_tokens.c.rotated_at.is_(None) | (oauth_tokens.c.rotated_at > now_ms - GRACE_MS),
        )
    )
    row = connection.execute(query).first()
    grant = find_grant(connection, row.grant_id) if row is not None else None
    return (grant, account_from(row)) if grant is not None else None


def add_device(tx: Transaction, device: Device) -> None:
    rows.insert(tx, oauth_devices, device._asdict())


def find_device(connection: Connection, device_hash: str) -> Device | None:
    """Locks it until this transaction ends."""
    return rows.find(connection, Device, oauth_devices, locks=True, device_hash=device_hash)


def find_token_requester(connection: Connection, device_hash: str) -> int | None:
    """The account whose program requests an access token with this device code."""
    requests = oauth_devices.join(oauth_grants, oauth_devices.c.grant_id == oauth_grants.c.id)
    query = sa.select(oauth_grants.c.account_id).select_from(requests)
    return connection.execute(query.where(oauth_devices.c.device_hash == device_hash)).scalar()


def remove_token_requests(tx: Transaction, grant_id: str) -> None:
    """Remove those of this sign-in, and what has expired."""
    is_over = oauth_devices.c.expires_at <= tx.at_ms
    rows.delete(tx, oauth_devices, is_over | (oauth_devices.c.grant_id == grant_id))


def find_device_by_user_code(connection: Connection, user_code: str) -> Device | None:
    return rows.find(connection, Device, oauth_devices, user_code=user_code)


def update_device(tx: Transaction, device_hash: str, **values: object) -> None:
    rows.update(tx, oauth_devices, values, device_hash=device_hash)


def decide_waiting(tx: Transaction, device_hash: str, **values: object) -> bool:
    """Grant or deny a device; False if that was decided before."""
    waits = oauth_devices.c.account_id.is_(None) & ~oauth_devices.c.is_denied
    return rows.update(tx, oauth_devices, values, waits, device_hash=device_hash)


def remove_device(tx: Transaction, device_hash: str) -> None:
    rows.delete(tx, oauth_devices, device_hash=device_hash)


def remove_expired(tx: Transaction) -> None:
    """Remove expired rows. A used code is kept until then, to detect reuse."""
    for table in (oauth_codes, oauth_devices):
        rows.delete(tx, table, table.c.expires_at <= tx.at_ms)
    rows.delete(tx, oauth_tokens, oauth_tokens.c.refresh_expires_at <= tx.at_ms)
    alive = sa.exists().where(oauth_tokens.c.grant_id == oauth_grants.c.id)
    rows.delete(tx, oauth_grants, ~alive)


def _succeeded_before(instant: int) -> sa.ColumnElement[bool]:
    return oauth_tokens.c.successor.is_not(None) & (oauth_tokens.c.rotated_at < instant)
