"""For operators: changes to somebody's account. Disables and enables it, makes it an operator's,
resets its second factor or password.

The operator passes on a link to reset the password, because the catalog sends no mail. Nothing is
stored: the link is signed and contains a fingerprint of the current password, so that it works
once.
"""

import hmac

import msgspec

from ..catalog.store.events import append
from ..core.actors import COMMAND_LINE, Account, Actor, Via
from ..core.credentials import hash_secret
from ..core.db.engine import Snapshot, Store, Transaction
from ..core.errors import Conflict, NotAllowed
from ..core.keys import SigningKey, read_signed, sign_value
from . import events
from . import store as accounts
from .attempts import remember_network
from .create_account import remove_first_invitation
from .manage_account import hash_new, sign_out_everywhere
from .permissions import require_operator_now
from .second_factor.store import has_factor, remove_factors
from .store import find_credentials, get_account, lock_account, update_account

LIFETIME_S = 86_400
_NOT_VALID = (
    "This link is not valid: it was used, it is older than a day, or the password was changed "
    "since. Ask the operator for a new one."
)


def get_open(tx: Transaction, username: str) -> Account:
    """An account that is not closed, locked; disabled or not."""
    lock_account(tx, get_account(tx.connection, username).id)
    account = get_account(tx.connection, username)
    if account.is_closed:
        raise Conflict(f"{account.username} was closed by its owner and cannot be opened again.")
    return account


def get_enabled(tx: Transaction, username: str) -> Account:
    account = get_open(tx, username)
    if account.is_disabled:
        raise Conflict(f"{account.username} is disabled. Enable the account first.")
    return account


def reset_password(store: Store, username: str, new: str) -> None:
    """Ends all sessions, and revokes access tokens."""
    password_hash = hash_new(new)
    with store.writing() as tx:
        account = get_open(tx, username)
        update_account(tx, account.id, password_hash=password_hash)
        sign_out_everywhere(tx, account)
        append(tx, COMMAND_LINE, events.PasswordReset(scope=account.username))


def reset_second_factor(store: Store, username: str, actor: Actor = COMMAND_LINE) -> None:
    """For a person who has lost it: the password alone is then enough."""
    with store.writing() as tx:
        require_operator_now(tx.connection, actor)
        account = get_open(tx, username)
        if not has_factor(tx.connection, account.id):
            raise Conflict(f"{account.username} has no second factor.")
        remove_factors(tx, account.id)
        sign_out_everywhere(tx, account)
        append(tx, actor, events.SecondFactorReset(scope=account.username))


def set_disabled(
    store: Store, username: str, *, is_disabled: bool, actor: Actor = COMMAND_LINE
) -> None:
    """A disabled account cannot sign in; its access tokens are revoked permanently."""
    with store.writing() as tx:
        require_operator_now(tx.connection, actor)
        if is_disabled:
            accounts.lock_active_operators(tx)  # Two who disable each other would leave none.
        account = get_open(tx, username)
        require_operator_now(tx.connection, actor)  # Perhaps no longer, after waiting for the lock.
        if is_disabled and actor.name == account.username and actor.account is not None:
            raise Conflict("You cannot disable your own account. Another operator can.")
        update_account(tx, account.id, is_disabled=is_disabled)
        if is_disabled:
            sign_out_everywhere(tx, account)
            accounts.remove_invitations_of_inviter(tx, account.id)
        kind = events.AccountDisabled if is_disabled else events.AccountEnabled
        append(tx, actor, kind(scope=account.username))


def appoint_operator(store: Store, username: str, actor: Actor = COMMAND_LINE) -> None:
    """Its sessions and programs have the permissions of an operator from the next request on."""
    with store.writing() as tx:
        if actor.account is not None:
            lock_account(tx, actor.account.id)  # A dismissed operator appoints nobody.
        require_operator_now(tx.connection, actor)
        account = get_enabled(tx, username)
        if account.is_operator:
            raise Conflict(f"{account.username} is already an operator.")
        update_account(tx, account.id, is_operator=True)
        remove_first_invitation(tx)
        append(tx, actor, events.OperatorAppointed(scope=account.username))


def dismiss_operator(store: Store, username: str, actor: Actor = COMMAND_LINE) -> None:
    """With their invitations to the catalog. An operator who can sign in always remains."""
    with store.writing() as tx:
        active = accounts.lock_active_operators(tx)
        require_operator_now(tx.connection, actor)
        account = get_open(tx, username)
        if not account.is_operator:
            raise Conflict(f"{account.username} is not an operator.")
        if actor.account is not None and actor.account_id == account.id:
            raise Conflict("You cannot remove your own operator rights. Another operator can.")
        if not active - {account.id}:
            raise Conflict(
                f"{account.username} is the last operator who can sign in. Make another account an "
                "operator first."
            )
        update_account(tx, account.id, is_operator=False)
        accounts.remove_catalog_invitations_of_inviter(tx, account.id)
        append(tx, actor, events.OperatorDismissed(scope=account.username))


class ResetLink(msgspec.Struct):
    account_id: int
    mark: str


def make_reset_link(store: Store, key: SigningKey, actor: Actor, username: str) -> str:
    """The secret part of the link."""
    with store.writing() as tx:
        require_operator_now(tx.connection, actor)
        account = get_enabled(tx, username)
        link = ResetLink(account.id, _mark(tx.connection, account))
        append(tx, actor, events.ResetLinkMade(scope=account.username))
        return sign_value(key, link, tx.at_ms, LIFETIME_S)


def check_reset_link(store: Store, key: SigningKey, secret: str) -> Account:
    """Whose link it is, or NotAllowed."""
    link = read_signed(key, secret, ResetLink, store.now_ms())
    with store.reading() as connection:
        return _account_of(connection, link)


def use_reset_link(store: Store, key: SigningKey, secret: str, new: str, address: str) -> None:
    """Set a new password. Ends all sessions, and revokes access tokens."""
    known = check_reset_link(store, key, secret)  # Before hashing, which is slow on purpose.
    link = read_signed(key, secret, ResetLink, store.now_ms())
    password_hash = hash_new(new)
    with store.writing() as tx:
        lock_account(tx, known.id)
        account = _account_of(tx.connection, link)
        update_account(tx, account.id, password_hash=password_hash)
        remember_network(tx, account.id, address, password_hash)
        sign_out_everywhere(tx, account)
        actor = Actor(via=Via.SESSION, account=account, address=address)
        append(tx, actor, events.PasswordReset(scope=account.username))


def _account_of(connection: Snapshot, link: ResetLink | None) -> Account:
    account = accounts.find_account_by_id(connection, link.account_id) if link else None
    if link is None or account is None or account.is_disabled:
        raise NotAllowed(_NOT_VALID)
    if not hmac.compare_digest(link.mark, _mark(connection, account)):
        raise NotAllowed(_NOT_VALID)
    return account


def _mark(connection: Snapshot, account: Account) -> str:
    """A fingerprint that changes with the password; it does not reveal the hash."""
    found = find_credentials(connection, account.username)
    return hash_secret(f"reset {found.password_hash if found is not None else None}")
