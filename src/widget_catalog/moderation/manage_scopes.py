"""For operators: reserves and releases names of scopes; gives ownerless ones an owner."""

from widget_contract.names import Scope
from widget_contract.texts import name_error

from ..accounts.administer_account import get_enabled
from ..accounts.permissions import require_operator_now
from ..accounts.store import free_scope, take_scope
from ..catalog.model.events import ScopeAssigned, ScopeReleased, ScopeReserved
from ..catalog.store.events import append, find_upstream
from ..catalog.store.scopes import OwnerlessScope, find_ownerless_scope
from ..catalog.store.widgets import list_widgets_in
from ..core.actors import COMMAND_LINE, Actor, Role
from ..core.db.engine import Snapshot, Store
from ..core.errors import Conflict, InvalidRequest, NotFound
from ..organizations import store as organizations
from ..organizations.organize import MAX_NAME


def assign_scope(
    store: Store, name: str, username: str, display_name: str = "", *, actor: Actor = COMMAND_LINE
) -> OwnerlessScope:
    """Make an organization of the scope, owned by this account; returns what it has received.

    An organization, because the name of an account cannot be changed, and because the owner can
    then invite others or transfer it.
    """
    scope = Scope.parse(name)
    title = display_name.strip() or name
    if error := name_error(title, MAX_NAME):
        raise InvalidRequest(f"The display name {error}")
    with store.publishing() as tx:
        require_operator_now(tx.connection, actor)
        found = _get_ownerless(tx.connection, scope)
        if organizations.scope_kind(tx.connection, username) == "organization":
            raise Conflict(
                f"{username} is an organization, which has one scope: its own name. Name an "
                f"account: it becomes the owner of the organization {scope}, and can invite others."
            )
        account = get_enabled(tx, username)
        free_scope(tx, scope)  # It may be reserved.
        take_scope(tx, scope, "organization", adopts=True)
        organization = organizations.add_organization(tx, scope, title)
        organizations.put_member(tx, organization.id, account.id, Role.OWNER)
        owner, widgets, installs = str(account.username), found.widgets, found.installs
        event = ScopeAssigned(scope=scope, member=owner, widgets=widgets, installs=installs)
        append(tx, actor, event)
    return found


def _get_ownerless(connection: Snapshot, scope: Scope) -> OwnerlessScope:
    if (url := find_upstream(connection)) is not None:
        raise Conflict(f"This catalog is a mirror: its scopes belong to their owners at {url}.")
    found = find_ownerless_scope(connection, scope)
    if found is not None:
        return found
    match organizations.scope_kind(connection, scope):
        case "personal":
            raise Conflict(f"The scope {scope} belongs to the account {scope}.")
        case "organization":
            raise Conflict(
                f"The scope {scope} belongs to the organization {scope}. Owners can transfer it."
            )
        case _:
            raise NotFound(f"There are no widgets in the scope {scope}.")


def reserve_scope(store: Store, name: str, actor: Actor = COMMAND_LINE) -> None:
    """Reserve a name, so that it cannot be registered."""
    scope = Scope.parse(name)
    with store.publishing() as tx:
        require_operator_now(tx.connection, actor)
        take_scope(tx, scope, "reserved", adopts=True)
        append(tx, actor, ScopeReserved(scope=scope))


def release_scope(store: Store, name: str, actor: Actor = COMMAND_LINE) -> str:
    """Release a reserved name, or that of an organization that has published nothing; returns
    which of the two it was. The organization is deleted.

    A name under which something was published stays taken, because dashboards load by it; so does
    the name of an account, because others know the person by it.
    """
    scope = Scope.parse(name)
    with store.publishing() as tx:
        require_operator_now(tx.connection, actor)
        organizations.lock_organization(tx, scope)
        kind = organizations.scope_kind(tx.connection, scope)
        published = len(list_widgets_in(tx.connection, scope))
        if kind is None:
            raise NotFound(
                f"The name {scope} is not taken."
                if not published
                else f"The scope {scope} has no owner; its widgets were imported. To give it one: "
                f"scope assign {scope} ACCOUNT."
            )
        if kind == "personal":
            raise Conflict(
                f"{scope} is the name of an account. Names of people are never given to somebody "
                f"else, even when the account is closed. To keep them out: account disable {scope}."
            )
        members = None
        organization = organizations.find_organization(tx.connection, scope)
        if organization is not None:
            if published:
                raise Conflict(
                    f"The organization {scope} has {published:,} published widget"
                    f"{'' if published == 1 else 's'}, listed or not. Dashboards load them by this "
                    "name, so it is never given to somebody else."
                )
            found = organizations.list_members(tx.connection, organization.id)
            members = [member.username for member in found]
            organizations.remove_organization(tx, organization)
        free_scope(tx, scope)
        append(tx, actor, ScopeReleased(scope=scope, was=kind, members=members))
    return kind
