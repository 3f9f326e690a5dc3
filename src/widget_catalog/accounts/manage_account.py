"""Changes to an account: password, disable, enable, close; its sessions."""

import msgspec

from widget_contract.names import Scope

from ..catalog.events import Unlisted
from ..catalog.store.audit import Entry, read_account_audit
from ..catalog.store.events import append
from ..catalog.store.widgets import list_widgets_in, list_widgets_page, replace_widget
from ..core.actors import COMMAND_LINE, Account, Actor, Session, Visitor, password_fault
from ..core.credentials import hash_password, is_password
from ..core.db.engine import Store, Transaction
from ..core.errors import Conflict, InvalidAccount, NotAllowed, NotFound, NotSignedIn
from .attempts import count_attempt, record_failed_sign_in
from .events import (
    AccessEnded,
    AccountClosed,
    AccountDisabled,
    AccountEnabled,
    PasswordChanged,
    PasswordReset,
    SecondFactorReset,
    SessionEnded,
    SignedOutElsewhere,
)
from .invitation_store import remove_invitations_of_inviter
from .known_networks import remember_password_network
from .memberships import list_organization_names
from .oauth.store import Grant, find_grant, list_grants, remove_grant, remove_grants
from .permissions import require_operator_now, require_person
from .second_factor.policy import refuse_program
from .second_factor.store import has_factor, remove_factors
from .session_store import forgive_attempts, list_sessions, remove_session, remove_sessions
from .sign_in import Lifetimes, hold_session, is_fresh, limits_asked_again
from .store import (
    Credentials,
    end_account,
    find_credentials,
    get_account,
    lock_account,
    update_account,
)
from .tokens.store import remove_tokens


def change_password(
    store: Store, visitor: Visitor, current: str, new: str, *, keeps_tokens: bool = False
) -> None:
    """Set a new password. Ends every other session and program; access tokens are revoked, unless
    the person chooses otherwise.
    """
    account = require_person(visitor.actor)
    refuse_program(store, visitor)
    known = check_password(store, visitor, account, current)
    password_hash = hash_new(new)
    with store.writing() as tx:
        _hold_proof(tx, visitor, account, known)
        update_account(tx, account.id, password_hash=password_hash)
        remember_password_network(tx, account.id, visitor.actor.address or "", password_hash)
        remove_sessions(tx, account.id, but=visitor.session.id if visitor.session else None)
        remove_grants(tx, account.id)
        if not keeps_tokens:
            remove_tokens(tx, account.id)
        event = PasswordChanged(scope=account.username, keeps_tokens=keeps_tokens)
        append(tx, visitor.actor, event)


def reset_password(store: Store, username: str, new: str) -> None:
    """By the operator. Ends all sessions, and revokes access tokens."""
    password_hash = hash_new(new)
    with store.writing() as tx:
        account = get_open(tx, username)
        update_account(tx, account.id, password_hash=password_hash)
        sign_out_everywhere(tx, account)
        append(tx, COMMAND_LINE, PasswordReset(scope=account.username))


def reset_second_factor(store: Store, username: str, actor: Actor = COMMAND_LINE) -> None:
    """By the operator, for a person who has lost it: the password alone is then enough."""
    with store.writing() as tx:
        require_operator_now(tx.connection, actor)
        account = get_open(tx, username)
        if not has_factor(tx.connection, account.id):
            raise Conflict(f"{account.username} has no second factor.")
        remove_factors(tx, account.id)
        sign_out_everywhere(tx, account)
        append(tx, actor, SecondFactorReset(scope=account.username))


def set_disabled(
    store: Store, username: str, *, is_disabled: bool, actor: Actor = COMMAND_LINE
) -> None:
    """By the operator. A disabled account cannot sign in; its access tokens are revoked
    permanently.
    """
    with store.writing() as tx:
        require_operator_now(tx.connection, actor)
        account = get_open(tx, username)
        require_operator_now(tx.connection, actor)  # Perhaps no longer, after waiting for the lock.
        if is_disabled and actor.name == account.username and actor.account is not None:
            raise Conflict("You cannot disable your own account. Another operator can.")
        update_account(tx, account.id, is_disabled=is_disabled)
        if is_disabled:
            sign_out_everywhere(tx, account)
            remove_invitations_of_inviter(tx, account.id)
        kind = AccountDisabled if is_disabled else AccountEnabled
        append(tx, actor, kind(scope=account.username))


def close_account(store: Store, visitor: Visitor, password: str) -> None:
    """By the person, with their password or a recent session; a program's access alone is not
    enough. Widgets are unlisted, bundles stay, so that no dashboard breaks. The name stays taken,
    the e-mail address does not.
    """
    account = require_person(visitor.actor)
    refuse_program(store, visitor)
    known = None
    if account.has_password and (password or not is_fresh(store, visitor)):
        known = check_password(store, visitor, account, password)
    elif not is_fresh(store, visitor):
        raise NotAllowed(
            "Sign in again with a browser first: to close an account that has no password, the "
            "session must be younger than 10 minutes."
        )
    with store.publishing() as tx:
        _hold_proof(tx, visitor, account, known)
        _unlist_all(tx, visitor.actor, account.username)
        end_account(tx, account.id)
        remove_factors(tx, account.id)
        remove_invitations_of_inviter(tx, account.id)
        sign_out_everywhere(tx, account)
        append(tx, visitor.actor, AccountClosed(scope=account.username))


def list_own_sessions(store: Store, visitor: Visitor, lifetimes: Lifetimes) -> list[Session]:
    """The current one, then the others, newest first."""
    account = require_person(visitor.actor)
    now_ms = store.now_ms()
    with store.reading() as connection:
        found = list_sessions(connection, account.id, now_ms, now_ms - lifetimes.idle_ms)
    current = visitor.session
    return sorted(found, key=lambda it: current is None or it.id != current.id)


def read_own_audit(store: Store, actor: Actor, limit: int) -> list[Entry]:
    """Recent actions of a person, and events of their account."""
    require_person(actor)
    with store.reading() as connection:
        return read_account_audit(connection, actor, limit)


def has_widgets(store: Store, actor: Actor) -> bool:
    """Whether the person or one of their organizations has any, listed or not."""
    account = require_person(actor)
    with store.reading() as connection:
        scopes = [account.username, *list_organization_names(connection, account.id)]
        return list_widgets_page(connection, 1, 1, scopes=scopes)[1] > 0


def end_session(store: Store, visitor: Visitor, id_: str) -> None:
    """By the person with a session: a program cannot sign them out of their browsers."""
    account = require_person(visitor.actor)
    if visitor.session is None:
        raise NotAllowed("A program cannot end sessions. Use the account page in a browser.")
    with store.writing() as tx:
        if not remove_session(tx, account.id, id_):
            raise NotFound("There is no such session.")
        append(tx, visitor.actor, SessionEnded(scope=account.username, session=id_))


def end_other_sessions(store: Store, visitor: Visitor) -> None:
    """Sign out everywhere else: other browsers, programs, and access tokens."""
    account = require_person(visitor.actor)
    with store.writing() as tx:
        lock_account(tx, account.id)
        remove_sessions(tx, account.id, but=visitor.session.id if visitor.session else None)
        remove_grants(tx, account.id)
        remove_tokens(tx, account.id)
        append(tx, visitor.actor, SignedOutElsewhere(scope=account.username))


def list_own_programs(store: Store, visitor: Visitor) -> list[Grant]:
    account = require_person(visitor.actor)
    with store.reading() as connection:
        return list_grants(connection, account.id, store.now_ms())


def sign_out_program(store: Store, visitor: Visitor, grant_id: str) -> None:
    """End a program's sign-in, and revoke the access tokens it requested."""
    account = require_person(visitor.actor)
    with store.writing() as tx:
        grant = find_grant(tx.connection, grant_id)
        if grant is None or grant.account_id != account.id:
            raise NotFound("There is no such program.")
        remove_grant(tx, grant_id)
        event = AccessEnded(scope=account.username, grant=grant_id, program=grant.client_id)
        append(tx, visitor.actor, event)


def get_open(tx: Transaction, username: str) -> Account:
    """An account that is not closed, locked; disabled or not."""
    lock_account(tx, get_account(tx.connection, username).id)
    account = get_account(tx.connection, username)
    if account.is_closed:
        raise Conflict(f"{account.username} was closed by its owner and cannot be opened again.")
    return account


def _unlist_all(tx: Transaction, actor: Actor, scope: Scope) -> None:
    for stored in list_widgets_in(tx.connection, scope):
        if stored.widget.is_listed:
            hidden = msgspec.structs.replace(stored.widget, is_listed=False)
            event = Unlisted(scope=scope, name=hidden.name, reason="Account closed.")
            replace_widget(tx, stored, hidden, actor, event)


def sign_out_everywhere(tx: Transaction, account: Account) -> None:
    remove_sessions(tx, account.id)
    remove_grants(tx, account.id)
    remove_tokens(tx, account.id)


def check_password(store: Store, visitor: Visitor, account: Account, password: str) -> Credentials:
    """The credentials of the account, if this is its password. Rate limited, so that the password
    cannot be guessed at an unattended session.
    """
    if not password:
        raise NotAllowed("Enter your password.")
    with store.reading() as connection:
        found = find_credentials(connection, account.username)
    if found is None:
        raise NotAllowed("The current password is wrong.")
    limits = limits_asked_again(store, visitor, found)
    counted = count_attempt(store, limits, "Too many wrong passwords.")
    if not is_password(found.password_hash, password):
        own, address = next(iter(limits)), visitor.actor.address or ""
        record_failed_sign_in(store, account, address, counted[own][0], limits[own])
        raise NotAllowed("The current password is wrong.")
    with store.writing() as tx:
        forgive_attempts(tx, None, list(limits))
    return found


def _hold_proof(
    tx: Transaction, visitor: Visitor, account: Account, known: Credentials | None
) -> None:
    """Raises NotSignedIn if the session ended since the password was checked, or since the request
    was authenticated: by a new password, or by signing out.
    """
    lock_account(tx, account.id)
    hold_session(tx, visitor)
    grant_id = visitor.grant_id
    is_ended = grant_id is not None and find_grant(tx.connection, grant_id) is None
    is_changed = known is not None and find_credentials(tx.connection, account.username) != known
    if is_ended or is_changed:
        raise NotSignedIn(
            "The password has just been changed, or you were signed out. Sign in again."
        )


def hash_new(password: str) -> str:
    """The hash of a valid password, or InvalidAccount."""
    if fault := password_fault(password):
        raise InvalidAccount([fault])
    return hash_password(password)
