"""Authorization in a scope. Every action checks here first, in its transaction."""

from ..accounts.permissions import as_now
from ..core.actors import Actor, Right, Rule, is_allowed, rule_of
from ..core.db.engine import Snapshot
from ..core.errors import NotAllowed
from .store import standing_of


def require(
    connection: Snapshot, actor: Actor, right: Right | Rule, scope: str, name: str | None = None
) -> None:
    """NotAllowed if this actor lacks the permission in the scope, or for one widget of it."""
    now = as_now(connection, actor)
    standing = standing_of(connection, now.account, scope, name)
    if not is_allowed(now, right, standing, scope, name):
        limits = actor.limits
        if limits is not None and not limits.admit(right, scope, name):
            raise NotAllowed(f"The access token does not allow this. It may only {limits}.")
        raise NotAllowed(rule_of(right).refusal.format(scope=scope))


def rights_of(connection: Snapshot, actor: Actor, scope: str, name: str | None) -> frozenset[Right]:
    """Everything that this actor may do there."""
    standing = standing_of(connection, actor.account, scope, name)
    return frozenset(one for one in Right if is_allowed(actor, one, standing, scope, name))
