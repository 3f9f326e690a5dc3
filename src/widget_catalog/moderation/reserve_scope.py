"""For operators: reserves and releases names of scopes."""

from widget_contract.names import Scope

from ..accounts.permissions import require_operator_now
from ..accounts.store import free_scope, take_scope
from ..catalog.events import ScopeReleased, ScopeReserved
from ..catalog.store.events import append
from ..catalog.store.widgets import list_widgets_in
from ..core.actors import COMMAND_LINE, Actor
from ..core.db.engine import Store
from ..core.errors import Conflict, NotFound
from ..organizations.store import (
    find_organization,
    list_members,
    lock_organization,
    remove_organization,
    scope_kind,
)


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
        lock_organization(tx, scope)
        kind = scope_kind(tx.connection, scope)
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
        organization = find_organization(tx.connection, scope)
        if organization is not None:
            if published:
                raise Conflict(
                    f"The organization {scope} has {published:,} published widget"
                    f"{'' if published == 1 else 's'}, listed or not. Dashboards load them by this "
                    "name, so it is never given to somebody else."
                )
            members = [it.username for it in list_members(tx.connection, organization.id)]
            remove_organization(tx, organization)
        free_scope(tx, scope)
        append(tx, actor, ScopeReleased(scope=scope, was=kind, members=members))
    return kind
