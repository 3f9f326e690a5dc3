"""The second factor policy: the relying party of passkeys, and who needs a factor."""

from typing import NamedTuple

from ...core.actors import Account, Via, Visitor
from ...core.db.engine import Snapshot, Store
from ...core.errors import ConfirmationNeeded, NotAllowed, SecondFactorMissing
from ...core.http.routing import StepUp
from ...core.keys import SecretBox
from ..permissions import owns_organization
from ..settings import RequiredOf
from ..sign_in import is_fresh
from .passkeys import Site
from .store import has_factor

_WHO = {
    RequiredOf.OPERATORS: "operators",
    RequiredOf.OWNERS: "operators and of owners of organizations",
    RequiredOf.EVERYBODY: "everybody",
}


class FactorPolicy(NamedTuple):
    site: Site
    box: SecretBox
    required_of: RequiredOf


def is_required(connection: Snapshot, policy: FactorPolicy, account: Account) -> bool:
    whom = policy.required_of
    if whom is RequiredOf.OWNERS and owns_organization(connection, account.id):
        return True
    is_of_operators = whom in (RequiredOf.OPERATORS, RequiredOf.OWNERS)
    return whom is RequiredOf.EVERYBODY or (is_of_operators and account.is_operator)


def require_second_factor(store: Store, policy: FactorPolicy, visitor: Visitor) -> None:
    """Raises SecondFactorMissing for an account that must have one; ConfirmationNeeded for a
    session that was opened without it, such as through a provider.
    """
    account = visitor.actor.account
    if policy.required_of is RequiredOf.NOBODY or account is None:
        return
    with store.reading() as connection:
        if not is_required(connection, policy, account):
            return
        is_set_up = has_factor(connection, account.id)
    if not is_set_up:
        raise SecondFactorMissing(
            f"This catalog requires a second factor of {_WHO[policy.required_of]}. Set one up at "
            f"{policy.site.origin}/account/second-factor, then try again."
        )
    session = visitor.session
    if visitor.actor.via is Via.SESSION and session is not None and not session.is_two_factor:
        raise ConfirmationNeeded("Confirm with your second factor that it is you, then try again.")


def require_step_up(store: Store, visitor: Visitor, needed: StepUp) -> None:
    """Raises ConfirmationNeeded for a session that has not proved recently what is needed."""
    session = visitor.session
    if needed is StepUp.NONE or session is None:
        return
    with store.reading() as connection:
        is_set_up = has_factor(connection, session.account_id)
    if needed is StepUp.FACTOR and not is_set_up:
        return
    if is_set_up and not session.is_two_factor:
        raise ConfirmationNeeded(
            "Confirm with your second factor at /account/confirm that it is you, then try again."
        )
    if not is_fresh(store, visitor):
        raise ConfirmationNeeded("Confirm at /account/confirm that it is you, then try again.")


def refuse_program(store: Store, visitor: Visitor) -> None:
    """Raises NotAllowed for a program of a person with a second factor: it cannot show that."""
    if visitor.session is not None or visitor.actor.account is None:
        return
    with store.reading() as connection:
        is_set_up = has_factor(connection, visitor.actor.account.id)
    if is_set_up:
        raise NotAllowed(
            "You have a second factor, so a program cannot do this. Use the account page in a "
            "browser."
        )
