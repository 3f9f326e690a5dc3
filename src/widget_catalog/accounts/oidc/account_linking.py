"""Maps a person at the provider to an account here: known, new, or connected.

Accounts are never linked by e-mail address: a person who can choose their address at the provider
could choose someone else's.
"""

import re
from collections.abc import Set

import msgspec
from msgspec.structs import replace

from ...catalog.store.events import append
from ...core.actors import Account, Visitor
from ...core.db.engine import Store, Transaction
from ...core.errors import Conflict, InvalidAccount, NotAllowed
from .. import store as accounts
from ..create_account import check_account, create_without_password
from ..events import IdentityConnected
from ..sign_in import Browser, SignInResult, changing_own, open_session
from ..store import add_identity, find_account_by_identity

_NOT_IN_A_NAME = re.compile(r"[^a-z0-9]+")


class SignInBegun(msgspec.Struct, frozen=True):
    """A sign-in in progress; stored in the browser, signed. `connects` is an account's number."""

    state: str
    nonce: str
    verifier: str
    next: str = ""
    connects: int | None = None


class Person(msgspec.Struct, frozen=True):
    """The person according to the provider. Only `subject` is permanent. One without an account,
    who has to choose a name, is stored in the browser, signed.
    """

    issuer: str
    subject: str
    username: str
    email: str
    next: str = ""


def sign_in_identity(
    store: Store,
    person: Person,
    browser: Browser,
    *,
    may_create: bool,
    reserved: Set[str],
    next_: str = "",
) -> SignInResult | Person:
    """Sign in a known person, replacing the browser's session; create an account for an unknown
    one, or ask for its name.

    A person whose e-mail address belongs to an account is asked, too: that page also explains how
    to connect an existing account.
    """
    with store.writing() as tx:
        account = find_account_by_identity(tx.connection, person.issuer, person.subject)
        if account is not None:
            accounts.lock_account(tx, account.id)
            now = accounts.find_account_by_id(tx.connection, account.id)
            return _open(tx, now or account, browser)
        may_have_one = accounts.is_email_used(tx.connection, person.email)
    if not may_create:
        raise NotAllowed("You have no account here. Ask the operator for one.")
    newcomer = replace(person, username=_name_from(person.username), next=next_)
    if may_have_one:
        return newcomer
    try:
        return sign_in_newcomer(store, newcomer, browser, reserved)
    except (InvalidAccount, Conflict):
        return newcomer


def sign_in_newcomer(
    store: Store, newcomer: Person, browser: Browser, reserved: Set[str]
) -> SignInResult:
    """Create the account; InvalidAccount or Conflict if the name or e-mail cannot be used."""
    issuer, subject, email = newcomer.issuer, newcomer.subject, newcomer.email
    name = check_account(newcomer.username, email, None, reserved)
    with store.publishing() as tx:
        account = find_account_by_identity(tx.connection, issuer, subject)
        if account is None:  # Otherwise the form was submitted twice.
            account = create_without_password(tx, name, email, browser.address)
            add_identity(tx, issuer, subject, account.id)
        return _open(tx, account, browser)


def connect_identity(store: Store, visitor: Visitor, person: Person) -> None:
    """Connect this person at the provider to this account."""
    with changing_own(store, visitor) as (tx, account):
        is_new = add_identity(tx, person.issuer, person.subject, account.id)
        known = find_account_by_identity(tx.connection, person.issuer, person.subject)
        if known is not None and known.id != account.id:
            raise Conflict("You are connected with another account here already.")
        if is_new:
            event = IdentityConnected(scope=account.username, issuer=person.issuer)
            append(tx, visitor.actor, event)


def _open(tx: Transaction, account: Account, browser: Browser) -> SignInResult:
    if account.is_disabled:
        raise NotAllowed("Your account is disabled. Ask the operator.")
    return open_session(tx, account, browser, way="provider")


def _name_from(text: str) -> str:
    """A valid name derived from theirs: `Ann.Smith@example.org` becomes `ann-smith`."""
    return _NOT_IN_A_NAME.sub("-", text.partition("@")[0].lower()).strip("-")[:64]
