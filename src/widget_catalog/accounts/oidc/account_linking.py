"""Maps a person at the provider to an account here: known, new, or connected.

Accounts are never linked by e-mail address: a person who can choose their address at the provider
could choose someone else's.
"""

import re
from collections.abc import Set

import msgspec

from ...catalog.store.events import append
from ...core.actors import RESERVED, Account, Visitor, email_fault, parse_username
from ...core.db.engine import Store, Transaction
from ...core.errors import Conflict, InvalidAccount, NotAllowed
from ..browsers import UNKNOWN_BROWSER, Browser
from ..create_account import create_without_password
from ..events import IdentityConnected
from ..permissions import require_person
from ..sign_in import Lifetimes, SignedIn, hold_session, open_session
from ..store import (
    add_identity,
    find_account_by_id,
    find_account_by_identity,
    is_email_used,
    lock_account,
)
from .identities import Person

_NOT_IN_A_NAME = re.compile(r"[^a-z0-9]+")


class Newcomer(msgspec.Struct, frozen=True):
    """A person without an account, who has to choose a name; stored in the browser, signed."""

    issuer: str
    subject: str
    username: str
    email: str
    next: str = ""


def sign_in_identity(
    store: Store,
    person: Person,
    lifetimes: Lifetimes,
    *,
    address: str,
    may_create: bool,
    next_: str = "",
    browser: Browser = UNKNOWN_BROWSER,
    reserved: Set[str] = RESERVED,
) -> SignedIn | Newcomer:
    """Sign in a known person, replacing the browser's session; create an account for an unknown
    one, or ask for its name.

    A person whose e-mail address belongs to an account is asked, too: that page also explains how
    to connect an existing account.
    """
    with store.writing() as tx:
        account = find_account_by_identity(tx.connection, person.issuer, person.subject)
        if account is not None:
            lock_account(tx, account.id)
            now = find_account_by_id(tx.connection, account.id)
            return _open(tx, now or account, lifetimes, address, browser)
        may_have_one = is_email_used(tx.connection, person.email)
    if not may_create:
        raise NotAllowed("You have no account here. Ask the operator for one.")
    newcomer = Newcomer(
        person.issuer, person.subject, _name_from(person.username), person.email, next_
    )
    if may_have_one:
        return newcomer
    try:
        return sign_in_newcomer(
            store, newcomer, lifetimes, address=address, browser=browser, reserved=reserved
        )
    except (InvalidAccount, Conflict):
        return newcomer


def sign_in_newcomer(
    store: Store,
    newcomer: Newcomer,
    lifetimes: Lifetimes,
    *,
    address: str,
    browser: Browser = UNKNOWN_BROWSER,
    reserved: Set[str] = RESERVED,
) -> SignedIn:
    """Create the account. Raises InvalidAccount or Conflict if the name or e-mail
    cannot be used.
    """
    faults = [fault] if (fault := email_fault(newcomer.email)) else []
    try:
        parse_username(newcomer.username, reserved)
    except InvalidAccount as error:
        faults = [*error.faults, *faults]
    if faults:
        raise InvalidAccount(faults)
    with store.publishing() as tx:
        account = find_account_by_identity(tx.connection, newcomer.issuer, newcomer.subject)
        if account is None:  # Otherwise the form was submitted twice.
            account = create_without_password(
                tx, newcomer.username, newcomer.email, address, reserved
            )
            add_identity(tx, newcomer.issuer, newcomer.subject, account.id)
        return _open(tx, account, lifetimes, address, browser)


def connect_identity(store: Store, visitor: Visitor, person: Person) -> None:
    """Connect this person at the provider to this account."""
    account = require_person(visitor.actor)
    with store.writing() as tx:
        hold_session(tx, visitor)
        is_new = add_identity(tx, person.issuer, person.subject, account.id)
        known = find_account_by_identity(tx.connection, person.issuer, person.subject)
        if known is not None and known.id != account.id:
            raise Conflict("You are connected with another account here already.")
        if is_new:
            event = IdentityConnected(scope=account.username, issuer=person.issuer)
            append(tx, visitor.actor, event)


def _open(
    tx: Transaction, account: Account, lifetimes: Lifetimes, address: str, browser: Browser
) -> SignedIn:
    if account.is_disabled:
        raise NotAllowed("Your account is disabled. Ask the operator.")
    return open_session(tx, account, lifetimes, way="provider", address=address, browser=browser)


def _name_from(text: str) -> str:
    """A valid name derived from theirs: `Ann.Smith@example.org` becomes `ann-smith`."""
    return _NOT_IN_A_NAME.sub("-", text.partition("@")[0].lower()).strip("-")[:64]
