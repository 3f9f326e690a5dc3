"""Signing in and out with a password, and finding out who is behind a request."""

from typing import NamedTuple

from ..domain.accounts import Account, Actor, Via
from ..domain.errors import NotSignedIn
from ..domain.names import is_name
from ..domain.networks import network_of
from ..store.accounts import find_credentials, update_account
from ..store.engine import Store, Transaction
from ..store.oauth import find_access
from ..store.sessions import (
    Session,
    add_session,
    find_session,
    remove_attempts,
    remove_ended_sessions,
    remove_session,
    remove_session_by_secret,
    take_back_attempts,
    touch_session,
)
from ..store.tokens import find_token, touch_token
from .attempts import count_attempt
from .credentials import (
    OAUTH_PREFIX,
    SESSION_PREFIX,
    TOKEN_PREFIX,
    hash_password,
    hash_secret,
    is_outdated,
    is_password,
    new_id,
    new_secret,
)

_MINUTE_MS = 60_000
# How long "last seen" and "last used" may lag, so that not every request writes.
_LAG_MS = 5 * _MINUTE_MS

_PER_ACCOUNT_AND_ADDRESS = 5
_PER_ADDRESS = 50
_PER_ACCOUNT = 100


class Lifetimes(NamedTuple):
    """How long a session lasts: unused, and at all."""

    idle_ms: int
    most_ms: int


class SignedIn(NamedTuple):
    """A new session, and the secret that opens it: it is not kept here."""

    secret: str
    session: Session
    account: Account


class Visitor(NamedTuple):
    """Who is behind a request; with a session, which one."""

    actor: Actor
    session: Session | None = None


def sign_in(
    store: Store,
    username: str,
    password: str,
    address: str,
    lifetimes: Lifetimes,
    *,
    former: str | None = None,
) -> SignedIn:
    """A new session, in place of the former one. A wrong name and a wrong password cannot be
    told apart."""
    limits = _limits(username, address)
    count_attempt(store, limits, "Too many failed attempts to sign in.")
    with store.reading() as connection:
        found = find_credentials(connection, username)
    is_right = is_password(found.password_hash if found else None, password)
    if found is None or not is_right or found.account.is_disabled:
        raise NotSignedIn("The user name or the password is wrong.")
    renewed = None
    if found.password_hash is not None and is_outdated(found.password_hash):
        renewed = hash_password(password)
    with store.writing() as tx:
        # A password that was changed meanwhile, to shut somebody out, opens nothing any more.
        if find_credentials(tx.connection, username) != found:
            raise NotSignedIn("The user name or the password is wrong.")
        own, *others = limits
        remove_attempts(tx, [own])
        take_back_attempts(tx, others)
        if renewed is not None:
            update_account(tx, found.account.id, password_hash=renewed)
        return open_session(tx, found.account, lifetimes, former=former)


def open_session(
    tx: Transaction, account: Account, lifetimes: Lifetimes, *, former: str | None
) -> SignedIn:
    """A new session for somebody who has been recognised, in place of the browser's former one:
    whoever knew its secret has nothing of it any more."""
    if former is not None:
        remove_session_by_secret(tx, hash_secret(former))
    remove_ended_sessions(tx, idle_since=tx.at_ms - lifetimes.idle_ms)
    secret = new_secret(SESSION_PREFIX)
    expires_at = tx.at_ms + lifetimes.most_ms
    session = add_session(tx, new_id(), hash_secret(secret), account.id, expires_at)
    return SignedIn(secret, session, account)


def sign_out(store: Store, visitor: Visitor) -> None:
    session = visitor.session
    if session is not None:
        with store.writing() as tx:
            remove_session(tx, session.account_id, session.id)


def identify_session(store: Store, secret: str, lifetimes: Lifetimes) -> Visitor | None:
    """Who holds this session; None if it is unknown, over, or its account is disabled."""
    if not secret.startswith(SESSION_PREFIX):
        return None
    now_ms = store.now_ms()
    with store.reading() as connection:
        found = find_session(connection, hash_secret(secret))
    if found is None:
        return None
    session, account = found
    is_over = session.expires_at <= now_ms or session.last_seen_at + lifetimes.idle_ms <= now_ms
    if is_over or account.is_disabled:
        return None
    if session.last_seen_at + _LAG_MS <= now_ms:
        with store.writing() as tx:
            touch_session(tx, session.id)
    return Visitor(Actor(via=Via.SESSION, account=account), session)


def identify_bearer(store: Store, secret: str) -> Visitor:
    """Who holds this token, or NotSignedIn."""
    visitor = None
    if secret.startswith(TOKEN_PREFIX):
        visitor = _identify_token(store, secret)
    elif secret.startswith(OAUTH_PREFIX):
        visitor = _identify_oauth(store, secret)
    if visitor is None:
        raise NotSignedIn("This token is unknown, expired or revoked. Sign in again.")
    return visitor


def _identify_token(store: Store, secret: str) -> Visitor | None:
    now_ms = store.now_ms()
    with store.reading() as connection:
        found = find_token(connection, hash_secret(secret))
    if found is None:
        return None
    token, account = found
    if token.expires_at <= now_ms or account.is_disabled:
        return None
    if token.last_used_at is None or token.last_used_at + _LAG_MS <= now_ms:
        with store.writing() as tx:
            touch_token(tx, token.id)
    return Visitor(Actor(via=Via.TOKEN, account=account, limits=token.limits))


def _identify_oauth(store: Store, secret: str) -> Visitor | None:
    with store.reading() as connection:
        account = find_access(connection, hash_secret(secret), store.now_ms())
    if account is None or account.is_disabled:
        return None
    return Visitor(Actor(via=Via.OAUTH, account=account))


def _limits(username: str, address: str) -> dict[str, int]:
    """What failures are counted by, and how many are heard in a window.

    The first guards an account against one guesser, the second everybody against one; the
    third is high, so that nobody can lock somebody else out by a few wrong guesses.
    """
    name = username if is_name(username) else "-"
    network = network_of(address)
    return {
        f"both {name} {network}": _PER_ACCOUNT_AND_ADDRESS,
        f"address {network}": _PER_ADDRESS,
        f"account {name}": _PER_ACCOUNT,
    }
