"""Password reset links.

The operator creates one and passes it on, because the catalog sends no mail. Nothing is stored:
the link is signed and contains a fingerprint of the current password, so that it works once.
"""

import hmac

import msgspec

from ..catalog.store.events import append
from ..core.actors import Account, Actor, Via
from ..core.credentials import hash_secret
from ..core.db.engine import Snapshot, Store
from ..core.errors import Conflict, NotAllowed
from ..core.keys import SigningKey, read_signed, sign_value
from .events import PasswordReset, ResetLinkMade
from .known_networks import remember_password_network
from .manage_account import get_open, hash_new, sign_out_everywhere
from .permissions import require_operator_now
from .store import find_account_by_id, find_credentials, lock_account, update_account

LIFETIME_S = 86_400
_NOT_VALID = (
    "This link is not valid: it was used, it is older than a day, or the password was changed "
    "since. Ask the operator for a new one."
)


class ResetLink(msgspec.Struct):
    account_id: int
    mark: str


def make_reset_link(store: Store, key: SigningKey, actor: Actor, username: str) -> str:
    """The secret part of the link."""
    with store.writing() as tx:
        require_operator_now(tx.connection, actor)
        account = get_open(tx, username)
        if account.is_disabled:
            raise Conflict(f"{account.username} is disabled. Enable the account first.")
        link = ResetLink(account.id, _mark(tx.connection, account))
        append(tx, actor, ResetLinkMade(scope=account.username))
        return sign_value(key, link, tx.at_ms, LIFETIME_S)


def check_reset_link(store: Store, key: SigningKey, secret: str) -> Account:
    """Whose link it is, or NotAllowed."""
    link = read_signed(key, secret, ResetLink, store.now_ms())
    with store.reading() as connection:
        return _account_of(connection, link)


def use_reset_link(store: Store, key: SigningKey, secret: str, new: str, address: str) -> None:
    """Set a new password. Ends all sessions, and revokes access tokens."""
    link = read_signed(key, secret, ResetLink, store.now_ms())
    with store.reading() as connection:
        _account_of(connection, link)  # Checked before hashing, which is slow on purpose.
    password_hash = hash_new(new)
    with store.writing() as tx:
        if link is not None:
            lock_account(tx, link.account_id)
        account = _account_of(tx.connection, link)
        update_account(tx, account.id, password_hash=password_hash)
        remember_password_network(tx, account.id, address, password_hash)
        sign_out_everywhere(tx, account)
        actor = Actor(via=Via.SESSION, account=account, address=address)
        append(tx, actor, PasswordReset(scope=account.username))


def _account_of(connection: Snapshot, link: ResetLink | None) -> Account:
    account = find_account_by_id(connection, link.account_id) if link is not None else None
    if link is None or account is None or account.is_disabled:
        raise NotAllowed(_NOT_VALID)
    if not hmac.compare_digest(link.mark, _mark(connection, account)):
        raise NotAllowed(_NOT_VALID)
    return account


def _mark(connection: Snapshot, account: Account) -> str:
    """A fingerprint that changes with the password; it does not reveal the hash."""
    found = find_credentials(connection, account.username)
    return hash_secret(f"reset {found.password_hash if found is not None else None}")
