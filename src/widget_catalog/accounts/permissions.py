"""Authorization that depends on the account alone. Permissions in a scope are checked in
`organizations/permissions.py`; what accounts need to know of organizations, which are above, are
functions that these replace.
"""

from collections.abc import Callable
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar

import msgspec

from ..core.actors import Account, Actor, Right
from ..core.db.engine import Snapshot, Store
from ..core.errors import NotAllowed
from ..core.hooks import extension_point
from .store import find_account_by_id

T = TypeVar("T")
P = ParamSpec("P")


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
    """NotAllowed for access tokens: they cannot manage accounts, tokens and organizations."""
    if actor.limits is not None:
        raise NotAllowed("An access token cannot do this; sign in as a person.")
    if actor.account is None:
        raise NotAllowed("This needs an account.")
    return actor.account


def require_operator(actor: Actor) -> None:
    if actor.limits is not None or not actor.is_operator:
        raise NotAllowed("Only the operator of this catalog can do this.")


def require_operator_now(connection: Snapshot, actor: Actor) -> None:
    """Raises NotAllowed unless the account is an operator's now; the command line always is one."""
    require_operator(actor)
    require_operator(as_now(connection, actor))


def read_own(store: Store, actor: Actor, read: Callable[[Snapshot, int, int], T]) -> T:
    """What a function finds of this person: it takes the account's number and the time."""
    account = require_person(actor)
    with store.reading() as connection:
        return read(connection, account.id, store.now_ms())


def read_as_operator(
    store: Store,
    actor: Actor,
    read: Callable[Concatenate[Snapshot, P], T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """What a function finds, for an operator alone."""
    with store.reading() as connection:
        require_operator_now(connection, actor)
        return read(connection, *args, **kwargs)


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
    return [scope for scope in scopes if scope.name in named]
