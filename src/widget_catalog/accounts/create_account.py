"""Creates accounts: by the operator, by registration, and by invitation."""

from collections.abc import Set

import msgspec

from widget_contract.names import Scope

from ..catalog.store.events import append, find_upstream
from ..core import actors
from ..core.actors import COMMAND_LINE, RESERVED, Account, Actor, Via
from ..core.credentials import INVITATION_PREFIX, hash_password, hash_secret, new_id, new_secret
from ..core.db.engine import Snapshot, Store, Transaction
from ..core.errors import Conflict, InvalidAccount, NotAllowed
from ..core.networks import network_of
from . import store as accounts
from .attempts import count_attempt, remember_network
from .events import AccountCreated, InvitedToCatalog
from .permissions import require_operator_now
from .sign_in import Browser, SignInResult, open_session
from .store import CatalogInvitation

OPERATOR, AUTHOR = "operator", "author"
_INVITATION_MS = 7 * 86_400_000
_FIRST_START = "the first start"
_MAX_FROM_ONE_ADDRESS = 20


class Registration(msgspec.Struct):
    """What a person enters to create an account; with the secret of an invitation, if any."""

    username: str
    email: str
    password: str
    invitation: str = ""


def create_account(
    store: Store,
    username: str,
    email: str,
    password: str,
    *,
    is_operator: bool = False,
    adopts: bool = False,
    reserved: Set[str] = RESERVED,
) -> Account:
    """By the operator, who may also give it a scope whose widgets have no owner yet."""
    name = check_account(username, email, password, reserved)
    password_hash = hash_password(password)
    with store.publishing() as tx:
        if accounts.is_email_used(tx.connection, email):
            raise Conflict(f"There is an account with the e-mail address {email} already.")
        return _create(tx, COMMAND_LINE, name, email, password_hash, is_operator, adopts=adopts)


def check_may_register(store: Store, secret: str, *, is_open: bool) -> CatalogInvitation | None:
    """The invitation, if there is one; raises NotAllowed if registration is not allowed."""
    with store.reading() as connection:
        invitation = _find(connection, secret, store.now_ms())
        is_mirror = find_upstream(connection) is not None
    if invitation is not None and is_mirror and invitation.role != OPERATOR:
        raise NotAllowed("This catalog is a mirror, where only operators have accounts.")
    if invitation is None and (is_mirror or not is_open):
        raise NotAllowed(
            "This invitation is not valid, or no longer. Ask the operator for a new one."
            if secret
            else "Registration is closed here. Ask the operator for an invitation."
        )
    return invitation


def register(
    store: Store, given: Registration, browser: Browser, *, is_open: bool, reserved: Set[str]
) -> SignInResult:
    """By the person, if registration is open or they have an invitation; signs them in, replacing
    the browser's session.

    Every attempt is counted before it costs anything, and stays counted if it is refused. An
    e-mail address that another account has is accepted: its ownership is not verified, and a
    refusal would reveal that it has an account.
    """
    invited = check_may_register(store, given.invitation, is_open=is_open) is not None
    name = check_account(given.username, given.email, given.password, reserved)
    limits = {f"registrations {network_of(browser.address)}": _MAX_FROM_ONE_ADDRESS}
    count_attempt(store, limits, "Too many attempts to create an account from your address.")
    password_hash = hash_password(given.password)
    with store.publishing() as tx:
        invitation = _find(tx.connection, given.invitation, tx.at_ms)
        if invited and invitation is None:
            raise NotAllowed("This invitation has just been used. Ask for a new one.")
        is_operator = invitation is not None and invitation.role == OPERATOR
        actor = Actor(via=Via.SESSION, address=browser.address)
        account = _create(tx, actor, name, given.email, password_hash, is_operator)
        remember_network(tx, account.id, browser.address, password_hash)
        if invitation is not None:
            accounts.remove_invitation(tx, invitation.id)
        return open_session(tx, account, browser, way="registration")


def create_without_password(tx: Transaction, name: Scope, email: str, address: str) -> Account:
    """For a person signed in by an OpenID Connect provider."""
    if find_upstream(tx.connection) is not None:
        raise NotAllowed(
            "This catalog is a mirror, where nobody makes an account. Ask the operator."
        )
    return _create(tx, Actor(via=Via.SESSION, address=address), name, email, None, False)


def invite(
    store: Store,
    role: str = AUTHOR,
    email: str | None = None,
    *,
    actor: Actor = COMMAND_LINE,
    invited_by: str = "",
) -> str:
    """A secret that allows creating one account, for a week.

    There is only one for an operator at a time, the last; a start replaces only that of the last
    start.
    """
    secret = new_secret(INVITATION_PREFIX)
    with store.publishing() as tx:
        if actor.account is not None:
            # Otherwise a concurrent dismissal or closing would miss this invitation.
            accounts.lock_account(tx, actor.account.id)
        require_operator_now(tx.connection, actor)
        accounts.remove_expired_invitations(tx)
        if invited_by:
            accounts.remove_invitations_by(tx, invited_by)
        elif role == OPERATOR:
            accounts.remove_catalog_invitations(tx, OPERATOR)
        accounts.add_invitation(
            tx,
            new_id(),
            email=email,
            secret_hash=hash_secret(secret),
            role=role,
            invited_by=invited_by or actor.name,
            inviter_id=actor.account.id if actor.account is not None else None,
            expires_at=tx.at_ms + _INVITATION_MS,
        )
        append(tx, actor, InvitedToCatalog(role=role, email=email))
    return secret


def invite_first_operator(store: Store) -> str | None:
    """While there is no operator: a secret to create their account, replacing the last one."""
    with store.reading() as connection:
        if accounts.has_operators(connection):
            return None
    return invite(store, OPERATOR, invited_by=_FIRST_START)


def remove_first_invitation(tx: Transaction) -> None:
    """The invitation printed at the start is for the first operator only."""
    accounts.remove_invitations_by(tx, _FIRST_START)


def check_account(username: str, email: str, password: str | None, reserved: Set[str]) -> Scope:
    """The name, or InvalidAccount with all errors."""
    password_error = actors.password_error(password) if password is not None else None
    errors = [error for error in (actors.email_error(email), password_error) if error]
    try:
        name = actors.parse_username(username, reserved)
    except InvalidAccount as error:
        raise InvalidAccount([*error.errors, *errors]) from None
    if errors:
        raise InvalidAccount(errors)
    return name


def _find(connection: Snapshot, secret: str, now_ms: int) -> CatalogInvitation | None:
    if not secret:
        return None
    return accounts.find_catalog_invitation(connection, hash_secret(secret), now_ms)


def _create(
    tx: Transaction,
    actor: Actor,
    name: Scope,
    email: str,
    password_hash: str | None,
    is_operator: bool,
    *,
    adopts: bool = False,
) -> Account:
    accounts.take_scope(tx, name, "personal", adopts=adopts)
    account = accounts.add_account(tx, name, email, password_hash, is_operator=is_operator)
    if is_operator:
        remove_first_invitation(tx)
    if actor.via is not Via.COMMAND:
        actor = msgspec.structs.replace(actor, account=account)
    append(tx, actor, AccountCreated(scope=name, is_operator=is_operator))
    return account
