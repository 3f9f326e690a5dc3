"""Signs in and out with a password, and authenticates requests."""

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple, TypeGuard

from widget_contract.names import is_name

from ..catalog.store.events import append
from ..core import credentials as secrets
from ..core.actors import Account, Actor, Session, Via, Visitor
from ..core.credentials import hash_secret
from ..core.db.engine import Store, Transaction
from ..core.errors import AccountLocked, InvalidToken, NotSignedIn, StoreUnavailable
from ..core.networks import network_of
from . import attempts, events
from . import store as accounts
from .oauth.store import find_access
from .permissions import require_person
from .second_factor.store import has_factor
from .store import Credentials, find_credentials, lock_account
from .tokens.store import find_token, touch_token

_MINUTE_MS = 60_000
# A session that was created further in the future than this is invalid.
_MAX_AHEAD_MS = 24 * 3_600_000
# How far "last seen" and "last used" may lag, so that not every request writes.
_LAG_MS = 5 * _MINUTE_MS
# How long after a sign-in or a confirmation a person may change their credentials.
_FRESH_MS = 10 * _MINUTE_MS

_PER_ACCOUNT_AND_ADDRESS = 5
_PER_ADDRESS = 50
_PER_ACCOUNT = 100
TOO_OFTEN = "Too many failed attempts to sign in."
_LOCKED = (
    "Too many failed attempts to sign in to this account. You can still sign in with a passkey, "
    "with the password and a code of your second factor together, or from a network where you "
    "have signed in before."
)


class Lifetimes(NamedTuple):
    """Idle timeout and maximum lifetime of a session."""

    idle_ms: int
    most_ms: int


class Browser(NamedTuple):
    """The client that signs in, and what its new session replaces."""

    address: str
    lifetimes: Lifetimes
    """Of the new session."""
    label: str | None = None
    former: str | None = None
    """The secret of its current session."""


class SignInResult(NamedTuple):
    """A new session, and its secret, which is stored only as a hash."""

    secret: str
    session: Session
    account: Account


class FactorNeeded(NamedTuple):
    """The password was right, and the second factor is still required."""

    account: Account
    password_hash: str


def is_fresh(store: Store, visitor: Visitor) -> bool:
    """Whether the person has signed in or re-authenticated within some minutes."""
    session = visitor.session
    # Not in the future either: the clock was ahead then, so the real age is unknown.
    return session is not None and abs(store.now_ms() - session.confirmed_at) < _FRESH_MS


def hold_session(tx: Transaction, visitor: Visitor) -> None:
    """Raises NotSignedIn if the session has ended since the request was authenticated. Otherwise
    blocks "sign out everywhere" until the transaction ends, so that it does not miss what is
    added.
    """
    session = visitor.session
    if session is None:
        return
    lock_account(tx, session.account_id)
    if not accounts.has_session(tx.connection, session.id):
        raise NotSignedIn("You have just been signed out. Sign in again.")


@contextlib.contextmanager
def changing_own(store: Store, visitor: Visitor) -> Iterator[tuple[Transaction, Account]]:
    """A person changes something of their own: a transaction that holds the session."""
    account = require_person(visitor.actor)
    with store.writing() as tx:
        hold_session(tx, visitor)
        yield tx, account


def sign_in(
    store: Store, username: str, password: str, browser: Browser
) -> SignInResult | FactorNeeded:
    """A new session, or FactorNeeded. A wrong name and a wrong password look the same."""
    address = browser.address
    with store.reading() as connection:
        found = find_credentials(connection, username)
    near, far = limits_near(username, address), _limits_far(store, username, address, found)
    with store.writing() as tx:
        counted = attempts.add_attempts(tx, {**near, **far})
        attempts.check_limits(counted, tx.at_ms, near, TOO_OFTEN)
        attempts.check_limits(counted, tx.at_ms, far, _LOCKED, AccountLocked)
    own, *others = near
    if not is_right_password(found, password):
        account = found.account if found is not None else None
        attempts.record_failed_sign_in(store, account, address, counted[own][0], near[own])
        raise NotSignedIn("The username or the password is wrong.")
    renewed = None
    if found.password_hash is not None and secrets.is_outdated(found.password_hash):
        renewed = secrets.hash_password(password)
    with store.writing() as tx:
        hold_credentials(tx, found)
        attempts.forgive_attempts(tx, own, [*others, *far])
        if renewed is not None:
            accounts.update_account(tx, found.account.id, password_hash=renewed)
        password_hash = renewed or found.password_hash or ""
        attempts.remember_network(tx, found.account.id, address, password_hash)
        if has_factor(tx.connection, found.account.id):
            return FactorNeeded(found.account, password_hash)
        return open_session(tx, found.account, browser, way="password")


def is_right_password(found: Credentials | None, password: str) -> TypeGuard[Credentials]:
    """Whether this is the password of an account that may sign in. Takes as long without one."""
    is_right = secrets.is_password(found.password_hash if found is not None else None, password)
    return found is not None and is_right and not found.account.is_disabled


def hold_credentials(tx: Transaction, found: Credentials) -> None:
    """Raises NotSignedIn if the password was changed meanwhile, to lock an attacker out."""
    lock_account(tx, found.account.id)
    if find_credentials(tx.connection, found.account.username) != found:
        raise NotSignedIn("The username or the password is wrong.")


def open_session(
    tx: Transaction, account: Account, browser: Browser, *, way: str, is_two_factor: bool = False
) -> SignInResult:
    """A new session for an authenticated person; it replaces the browser's old one."""
    replaced = None
    if browser.former is not None:
        replaced = accounts.remove_session_by_secret(tx, hash_secret(browser.former))
    accounts.remove_ended_sessions(tx, idle_since=tx.at_ms - browser.lifetimes.idle_ms)
    secret = secrets.new_secret(secrets.SESSION_PREFIX)
    session = accounts.add_session(
        tx,
        secrets.new_id(),
        hash_secret(secret),
        account.id,
        tx.at_ms + browser.lifetimes.most_ms,
        is_two_factor=is_two_factor,
        browser=browser.label,
        address=browser.address,
    )
    actor = Actor(via=Via.SESSION, account=account, address=browser.address)
    name = account.username
    append(tx, actor, events.SignedIn(scope=name, way=way, session=session.id, replaces=replaced))
    return SignInResult(secret, session, account)


def sign_out(store: Store, visitor: Visitor) -> None:
    session = visitor.session
    if session is not None:
        with store.writing() as tx:
            if accounts.remove_session(tx, session.account_id, session.id):
                event = events.SignedOut(scope=visitor.actor.name, session=session.id)
                append(tx, visitor.actor, event)


def identify_session(
    store: Store, secret: str, lifetimes: Lifetimes, address: str
) -> Visitor | None:
    """The owner of this session; None if it is unknown, expired, or its account is disabled."""
    if not secret.startswith(secrets.SESSION_PREFIX):
        return None
    now_ms = store.now_ms()
    with store.reading() as connection:
        found = accounts.find_session(connection, hash_secret(secret))
    if found is None:
        return None
    session, account = found
    is_over = (
        session.expires_at <= now_ms
        or session.last_seen_at + lifetimes.idle_ms <= now_ms
        # Created while the clock was far ahead, so it would live too long.
        or session.created_at > now_ms + _MAX_AHEAD_MS
    )
    if is_over or account.is_disabled:
        return None
    if session.last_seen_at + _LAG_MS <= now_ms:
        _touch(store, partial(accounts.touch_session, id_=session.id))
    return Visitor(Actor(via=Via.SESSION, account=account, address=address), session)


def identify_bearer(store: Store, secret: str, address: str) -> Visitor:
    """The owner of this token, or InvalidToken."""
    visitor = None
    if secret.startswith(secrets.TOKEN_PREFIX):
        visitor = _identify_token(store, secret, address)
    elif secret.startswith(secrets.OAUTH_PREFIX):
        visitor = _identify_oauth(store, secret, address)
    if visitor is None:
        raise InvalidToken("This token is unknown, expired or revoked. Sign in again.")
    return visitor


def _identify_token(store: Store, secret: str, address: str) -> Visitor | None:
    now_ms = store.now_ms()
    with store.reading() as connection:
        found = find_token(connection, hash_secret(secret))
    if found is None:
        return None
    token, account = found
    if token.expires_at <= now_ms or account.is_disabled:
        return None
    if token.last_used_at is None or token.last_used_at + _LAG_MS <= now_ms:
        _touch(store, partial(touch_token, id_=token.id))
    actor = Actor(
        via=Via.TOKEN,
        account=account,
        limits=token.limits,
        client_id=token.id,
        client_name=token.name,
        address=address,
    )
    return Visitor(actor)


def _touch(store: Store, touch: Callable[[Transaction], None]) -> None:
    """Record its use, if that does not have to wait: otherwise the next request does."""
    with contextlib.suppress(StoreUnavailable), store.writing(waits=False) as tx:
        touch(tx)


def _identify_oauth(store: Store, secret: str, address: str) -> Visitor | None:
    with store.reading() as connection:
        found = find_access(connection, hash_secret(secret), store.now_ms())
    if found is None or found[1].is_disabled:
        return None
    grant, account = found
    actor = program_of(account, grant.client_id, address)
    return Visitor(actor, grant_id=grant.id, oauth_scopes=tuple(grant.scope.split()))


def program_of(account: Account, client_id: str, address: str) -> Actor:
    """A program that acts for this account. Its name may change with a setting, its id not."""
    return Actor(
        via=Via.OAUTH, account=account, client_id=client_id, client_name=client_id, address=address
    )


def limits_near(username: str, address: str) -> dict[str, int]:
    """The keys by which wrong passwords from this network are counted, and the limit of each.

    The first protects an account against one attacker, the second all accounts against one.
    """
    network = network_of(address)
    return {
        f"both {_name_in_key(username)} {network}": _PER_ACCOUNT_AND_ADDRESS,
        f"address {network}": _PER_ADDRESS,
    }


def _limits_far(
    store: Store, username: str, address: str, known: Credentials | None
) -> dict[str, int]:
    """The limit of an account from all networks together, except those of its owner.

    It is high, so that an attacker cannot lock out others with a few wrong guesses.
    """
    id_, password_hash = (known.account.id, known.password_hash) if known else (0, None)
    if attempts.is_known_network(store, id_, address, password_hash or ""):
        return {}
    return {f"account {_name_in_key(username)}": _PER_ACCOUNT}


def _name_in_key(username: str) -> str:
    return username if is_name(username) else "-"


def limits_asked_again(store: Store, visitor: Visitor, known: Credentials) -> dict[str, int]:
    """The keys by which wrong passwords of somebody who is signed in are counted.

    Anybody who gets in another way, such as through a provider, can open any number of sessions,
    so these share the attempts of the account and network. A session that was opened with the
    second factor has its own, which others cannot use up. Programs have theirs, all together.
    """
    account, session = known.account, visitor.session
    if session is None:
        return {f"password by programs of {account.id}": _PER_ACCOUNT_AND_ADDRESS}
    if session.is_two_factor:
        return {f"password by {session.id}": _PER_ACCOUNT_AND_ADDRESS}
    address = visitor.actor.address or ""
    own = f"password {account.id} {network_of(address)}"
    far = _limits_far(store, account.username, address, known)
    return {own: _PER_ACCOUNT_AND_ADDRESS, **far}
