"""What organizations do when an account is closed, and what they tell accounts."""

from ..accounts import permissions
from ..accounts.events import AccountClosed
from ..accounts.store import get_account
from ..catalog.store.scopes import find_public_members
from ..core.actors import Actor, Role, Stranger
from ..core.db.engine import Snapshot, Transaction
from ..core.errors import Conflict
from ..core.hooks import Hooks
from .events import MemberLeft
from .organize import has_another_owner, list_public_members, take_out
from .store import list_memberships, list_scopes_of, lock_organization, owns_organization


def _leave_all(tx: Transaction, by: Actor | Stranger, event: AccountClosed) -> None:
    """Raises Conflict if an organization would be left without an owner."""
    account = get_account(tx.connection, event.scope)
    for membership in list_memberships(tx.connection, account.id):
        lock_organization(tx, membership.organization.slug)
    for organization, role in list_memberships(tx.connection, account.id):
        is_owner = role is Role.OWNER
        if is_owner and not has_another_owner(tx.connection, organization, account.id):
            raise Conflict(
                f"You are the last owner of {organization.slug} who can sign in. Transfer it "
                "to somebody first."
            )
        take_out(tx, by, organization, account.id, str(event.scope), MemberLeft)


def _list_names(connection: Snapshot, account_id: int) -> list[str]:
    return [it.organization.slug for it in list_memberships(connection, account_id)]


HOOKS: Hooks = {
    find_public_members: list_public_members,
    AccountClosed: _leave_all,
    permissions.owns_organization: owns_organization,
    permissions.list_organization_names: _list_names,
    permissions.list_scopes_of: list_scopes_of,
}
