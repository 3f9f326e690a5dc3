"""Authorization. Every action checks here first, in its transaction."""

import msgspec

from ..core.actors import Account, Actor, Right, is_allowed
from ..core.db.engine import Snapshot
from ..core.errors import NotAllowed
from ..organizations.store import standing_of
from .store import find_account_by_id

_SENTENCES = {
    Right.PUBLISH: "You may not publish to the scope {scope}.",
    Right.VIEW: "The scope {scope} is not yours.",
    Right.READ_AUDIT: "The audit log of {scope} is for its owners.",
    Right.MAKE_OFFICIAL: "Only the operator can mark widgets as official.",
    Right.REVOKE: "Only the operator can revoke versions.",
    Right.MANAGE_MEMBERS: "Only owners and admins of {scope} can manage its members.",
    Right.OWN: "Only an owner of {scope} can do this.",
    Right.MANAGE_WEBHOOKS: "The webhooks of {scope} are for its owners.",
}
_OPERATOR_ONLY = "Only the operator of this catalog can do this."
_OTHERWISE = "Only owners and admins of {scope} can do this."


def require(
    connection: Snapshot, actor: Actor, right: Right, scope: str, name: str | None = None
) -> None:
    """Raises NotAllowed if this actor lacks the permission in the scope, or for one
    widget of it.
    """
    now = as_now(connection, actor)
    standing = standing_of(connection, now.account, scope, name)
    if not is_allowed(now, right, standing, scope, name):
        limits = actor.limits
        if limits is not None and not limits.admit(right, scope, name):
            raise NotAllowed(f"The access token does not allow this. It may only {limits}.")
        raise NotAllowed(_SENTENCES.get(right, _OTHERWISE).format(scope=scope))


def as_now(connection: Snapshot, actor: Actor) -> Actor:
    """The actor with the current state of the account in this transaction, which may have changed
    since the request was authenticated.

    Raises NotAllowed if the account was disabled or closed.
    """
    if actor.account is None:
        return actor
    account = find_account_by_id(connection, actor.account.id)
    if account is None or account.is_disabled:
        raise NotAllowed("This account is disabled.")
    return msgspec.structs.replace(actor, account=account)


def require_person(actor: Actor) -> Account:
    """Raises NotAllowed for access tokens: they cannot manage accounts, tokens and
    organizations.
    """
    if actor.limits is not None:
        raise NotAllowed("An access token cannot do this; sign in as a person.")
    if actor.account is None:
        raise NotAllowed("This needs an account.")
    return actor.account


def require_operator(actor: Actor) -> None:
    if actor.limits is not None or not actor.is_operator:
        raise NotAllowed(_OPERATOR_ONLY)


def require_operator_now(connection: Snapshot, actor: Actor) -> None:
    """The same, with the account as it is in this transaction; the command line is always an
    operator.
    """
    require_operator(actor)
    require_operator(as_now(connection, actor))
