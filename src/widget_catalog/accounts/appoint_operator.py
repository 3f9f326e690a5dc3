"""For operators: makes an account an operator, and takes that back."""

from ..catalog.store.events import append
from ..core.actors import COMMAND_LINE, Account, Actor, Right, is_allowed
from ..core.db.engine import Store, Transaction
from ..core.errors import Conflict
from ..organizations.store import standing_of
from ..webhooks.store import disable_webhook, list_enabled_webhooks
from .create_account import remove_first_invitation
from .events import OperatorAppointed, OperatorDismissed, WebhookDisabled
from .invitation_store import remove_catalog_invitations_of_inviter
from .manage_account import get_open
from .permissions import require_operator_now
from .store import get_account, lock_active_operators, update_account


def appoint_operator(store: Store, username: str, actor: Actor = COMMAND_LINE) -> None:
    """Its sessions and programs have the permissions of an operator from the next request on."""
    with store.writing() as tx:
        require_operator_now(tx.connection, actor)
        account = get_open(tx, username)
        if account.is_disabled:
            raise Conflict(f"{account.username} is disabled. Enable the account first.")
        if account.is_operator:
            raise Conflict(f"{account.username} is already an operator.")
        update_account(tx, account.id, is_operator=True)
        remove_first_invitation(tx)
        append(tx, actor, OperatorAppointed(scope=account.username))


def dismiss_operator(store: Store, username: str, actor: Actor = COMMAND_LINE) -> None:
    """With what only an operator could have set up: invitations to the catalog, and webhooks of
    the catalog or of other people's scopes. An operator who can sign in always remains.
    """
    with store.writing() as tx:
        active = lock_active_operators(tx)
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
        remove_catalog_invitations_of_inviter(tx, account.id)
        _disable_webhooks(tx, actor, get_account(tx.connection, username))
        append(tx, actor, OperatorDismissed(scope=account.username))


def _disable_webhooks(tx: Transaction, actor: Actor, former: Account) -> None:
    """Those that this account could not add now."""
    reason = f"{former.username}, who added it, is no longer an operator."
    as_author = Actor(via=actor.via, account=former)
    for it in list_enabled_webhooks(tx.connection):
        if it.created_by != former.username:
            continue
        standing = standing_of(tx.connection, former, it.scope or "", None)
        if not is_allowed(as_author, Right.MANAGE_WEBHOOKS, standing, it.scope or ""):
            disable_webhook(tx, it.id, reason)
            append(tx, actor, WebhookDisabled(scope=it.scope, webhook=it.id, reason=reason))
