"""For operators: makes an account an operator, and takes that back."""

from ..catalog.store.events import append
from ..core.actors import COMMAND_LINE, Actor
from ..core.db.engine import Store
from ..core.errors import Conflict
from .create_account import remove_first_invitation
from .events import OperatorAppointed, OperatorDismissed
from .invitation_store import remove_catalog_invitations_of_inviter
from .manage_account import get_open
from .permissions import require_operator_now
from .store import lock_account, lock_active_operators, update_account


def appoint_operator(store: Store, username: str, actor: Actor = COMMAND_LINE) -> None:
    """Its sessions and programs have the permissions of an operator from the next request on."""
    with store.writing() as tx:
        if actor.account is not None:
            lock_account(tx, actor.account.id)  # A dismissed operator appoints nobody.
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
    """With their invitations to the catalog. An operator who can sign in always remains."""
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
        append(tx, actor, OperatorDismissed(scope=account.username))
