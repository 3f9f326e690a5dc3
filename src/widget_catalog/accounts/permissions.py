"""Authorization that depends on the account alone. Permissions in a scope are checked in
`organizations/permissions.py`.
"""

import msgspec

from ..core.actors import Account, Actor
from ..core.db.engine import Snapshot
from ..core.errors import NotAllowed
from .store import find_account_by_id

_OPERATOR_ONLY = "Only the operator of this catalog can do this."


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
