"""What accounts need to know of organizations, which are above: each function here is replaced by
them.
"""

from typing import NamedTuple

from ..core.actors import Account, Actor, Right
from ..core.db.engine import Snapshot, Store
from ..core.hooks import extension_point


class PublishingScope(NamedTuple):
    """A scope that an account may publish in."""

    name: str
    kind: str
    display_name: str


@extension_point
def owns_organization(_connection: Snapshot, _account_id: int) -> bool:
    """Whether this account is an owner of any organization."""
    return False


@extension_point
def list_organization_names(_connection: Snapshot, _account_id: int) -> list[str]:
    """The organizations that this account is a member of."""
    return []


@extension_point
def list_scopes_of(_connection: Snapshot, account: Account) -> list[PublishingScope]:
    """The personal scope, then the organizations in which this account may publish something."""
    return [PublishingScope(account.username, "personal", account.username)]


def list_publishing_scopes(store: Store, actor: Actor) -> list[PublishingScope]:
    """Where this actor may publish something."""
    account, limits = actor.account, actor.limits
    if account is None or (limits is not None and Right.PUBLISH not in limits.rights):
        return []
    with store.reading() as connection:
        scopes = list_scopes_of(connection, account)
    if limits is None or not (limits.scopes or limits.widgets):
        return scopes
    named = {*limits.scopes, *(key.partition("/")[0] for key in limits.widgets)}
    return [it for it in scopes if it.name in named]
