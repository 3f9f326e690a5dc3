"""The second factor policy: the relying party of passkeys, and who needs a factor."""

from typing import NamedTuple

from ...domain.accounts import Account, Via
from ...domain.errors import ConfirmationNeeded, SecondFactorMissing
from ...domain.second_factor import RequiredOf, Site
from ...store.engine import Snapshot, Store
from ...store.organizations import owns_organization
from ...store.second_factors import has_factor
from ..sign_in import Visitor, is_fresh
from .secret_box import SecretBox

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
    match policy.required_of:
        case RequiredOf.NOBODY:
            return False
        case RequiredOf.EVERYBODY:
            return True
        case RequiredOf.OPERATORS:
            return account.is_operator
        case RequiredOf.OWNERS:
            return account.is_operator or owns_organization(connection, account.id)


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


def require_fresh(store: Store, visitor: Visitor) -> None:
    """Raises ConfirmationNeeded, unless the person has signed in or re-authenticated within some
    minutes, with a second factor if they have one.
    """
    session = visitor.session
    if session is None or not is_fresh(store, visitor):
        raise ConfirmationNeeded("Confirm at /account/confirm that it is you, then try again.")
    if not session.is_two_factor:
        with store.reading() as connection:
            is_weak = has_factor(connection, session.account_id)
        if is_weak:
            raise ConfirmationNeeded("Confirm with your second factor that it is you.")
