"""One's own account: password, sessions, programs, closing it."""

import msgspec

from widget_contract.names import Scope

from ..catalog.model.events import Unlisted
from ..catalog.store.audit import AuditEntry, read_account_audit
from ..catalog.store.events import append
from ..catalog.store.revocations import list_revoked_in
from ..catalog.store.widgets import list_widgets_in, list_widgets_page, replace_widget
from ..core.actors import Account, Actor, Session, Visitor, password_error
from ..core.credentials import hash_password, is_password
from ..core.db.engine import Store, Transaction
from ..core.errors import InvalidAccount, NotAllowed, NotFound, NotSignedIn
from . import events
from . import store as accounts
from .attempts import count_attempt, forgive_attempts, record_failed_sign_in, remember_network
from .oauth.store import find_grant, remove_grant, remove_grants
from .permissions import list_organization_names, require_person
from .second_factor.proving import refuse_program
from .second_factor.store import remove_factors
from .sign_in import Lifetimes, hold_session, is_fresh, limits_asked_again
from .store import Credentials, find_credentials, lock_account, remove_session, remove_sessions
from .tokens.store import remove_tokens


def change_password(
    store: Store, visitor: Visitor, current: str, new: str, *, keeps_tokens: bool = False
) -> None:
    """Ends every other session and program; and access tokens, unless the person keeps them."""
    account = require_person(visitor.actor)
    refuse_program(store, visitor)
    known = check_password(store, visitor, account, current)
    password_hash = hash_new(new)
    with store.writing() as tx:
        _hold_proof(tx, visitor, account, known)
        accounts.update_account(tx, account.id, password_hash=password_hash)
        remember_network(tx, account.id, visitor.actor.address or "", password_hash)
        _sign_out_elsewhere(tx, visitor, account)
        if not keeps_tokens:
            remove_tokens(tx, account.id)
        event = events.PasswordChanged(scope=account.username, keeps_tokens=keeps_tokens)
        append(tx, visitor.actor, event)


def close_account(store: Store, visitor: Visitor, password: str) -> None:
    """With the password or a recent session; a program's access alone is not enough. Widgets are
    unlisted, bundles stay, so that no dashboard breaks. The name stays taken, the e-mail address
    does not.
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
        accounts.end_account(tx, account.id)
        remove_factors(tx, account.id)
        accounts.remove_invitations_of_inviter(tx, account.id)
        sign_out_everywhere(tx, account)
        append(tx, visitor.actor, events.AccountClosed(scope=account.username))


def list_own_sessions(store: Store, visitor: Visitor, lifetimes: Lifetimes) -> list[Session]:
    """The current one, then the others, newest first."""
    account = require_person(visitor.actor)
    now_ms = store.now_ms()
    with store.reading() as connection:
        found = accounts.list_sessions(connection, account.id, now_ms, now_ms - lifetimes.idle_ms)
    current = visitor.session
    return sorted(found, key=lambda session: current is None or session.id != current.id)


def read_own_audit(store: Store, actor: Actor, limit: int) -> list[AuditEntry]:
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


def list_revoked(store: Store, actor: Actor, limit: int) -> list[tuple[str, str, str]]:
    """The versions of the person and their organizations that the operator has revoked."""
    account = require_person(actor)
    with store.reading() as connection:
        scopes = [account.username, *list_organization_names(connection, account.id)]
        return list_revoked_in(connection, scopes, limit)


def end_session(store: Store, visitor: Visitor, id_: str) -> None:
    """By the person with a session: a program cannot sign them out of their browsers."""
    account = require_person(visitor.actor)
    if visitor.session is None:
        raise NotAllowed("A program cannot end sessions. Use the account page in a browser.")
    with store.writing() as tx:
        if not remove_session(tx, account.id, id_):
            raise NotFound("There is no such session.")
        append(tx, visitor.actor, events.SessionEnded(scope=account.username, session=id_))


def end_other_sessions(store: Store, visitor: Visitor) -> None:
    """Sign out everywhere else: other browsers, programs, and access tokens."""
    account = require_person(visitor.actor)
    with store.writing() as tx:
        lock_account(tx, account.id)
        _sign_out_elsewhere(tx, visitor, account)
        remove_tokens(tx, account.id)
        append(tx, visitor.actor, events.SignedOutElsewhere(scope=account.username))


def sign_out_program(store: Store, visitor: Visitor, grant_id: str) -> None:
    account = require_person(visitor.actor)
    with store.writing() as tx:
        sign_out_program_of(tx, visitor.actor, account, grant_id)


def sign_out_program_of(tx: Transaction, actor: Actor, account: Account, grant_id: str) -> None:
    """End a program's sign-in, and revoke the access tokens it requested."""
    grant = find_grant(tx.connection, grant_id)
    if grant is None or grant.account_id != account.id:
        raise NotFound("There is no such program.")
    remove_grant(tx, grant_id)
    name, program = account.username, grant.client_id
    append(tx, actor, events.AccessEnded(scope=name, grant=grant_id, program=program))


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


def hash_new(password: str) -> str:
    """The hash of a valid password, or InvalidAccount."""
    if error := password_error(password):
        raise InvalidAccount([error])
    return hash_password(password)


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


def _sign_out_elsewhere(tx: Transaction, visitor: Visitor, account: Account) -> None:
    remove_sessions(tx, account.id, but=visitor.session.id if visitor.session else None)
    remove_grants(tx, account.id)


def _unlist_all(tx: Transaction, actor: Actor, scope: Scope) -> None:
    for stored in list_widgets_in(tx.connection, scope):
        if stored.widget.is_listed:
            hidden = msgspec.structs.replace(stored.widget, is_listed=False)
            event = Unlisted(scope=scope, name=hidden.name, reason="Account closed.")
            replace_widget(tx, stored, hidden, actor, event)
