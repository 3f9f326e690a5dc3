"""What happens to webhooks when people or scopes go: those of people who may no longer add them are
disabled, until an owner enables them again.
"""

from collections.abc import Callable

from ..accounts.events import AccountClosed, AccountDisabled, OperatorDismissed
from ..accounts.store import get_account
from ..catalog.model.events import ScopeReleased
from ..catalog.store.events import append
from ..core.actors import Actor, Anonymous, is_allowed
from ..core.db.engine import Transaction
from ..core.hooks import Hooks
from ..organizations.organize import MemberLeft, MemberRemoved, OwnerDemoted
from ..organizations.store import standing_of
from .model import MAY_MANAGE, Webhook, WebhookDisabled
from .store import disable_webhook, list_enabled_webhooks, remove_webhooks_of


def _account_closed(tx: Transaction, by: Actor | Anonymous, event: AccountClosed) -> None:
    remove_webhooks_of(tx, event.scope)
    reason = f"{event.scope}, who added it, has closed the account."
    _disable(tx, by, reason, lambda it: it.created_by == event.scope)


def _account_disabled(tx: Transaction, by: Actor | Anonymous, event: AccountDisabled) -> None:
    """Those of the person's own scope, and those that they have added elsewhere."""
    reason = f"The account {event.scope} was disabled."
    _disable(tx, by, reason, lambda it: event.scope in (it.scope, it.created_by))


def _operator_dismissed(tx: Transaction, by: Actor | Anonymous, event: OperatorDismissed) -> None:
    """Those that this account could not add now: of the catalog, or of other people's scopes."""
    former = get_account(tx.connection, event.scope)
    as_author = Actor(via=by.via, account=former)

    def is_lost(webhook: Webhook) -> bool:
        if webhook.created_by != former.username:
            return False
        scope = webhook.scope or ""
        standing = standing_of(tx.connection, former, scope, None)
        return not is_allowed(as_author, MAY_MANAGE, standing, scope)

    _disable(tx, by, f"{former.username}, who added it, is no longer an operator.", is_lost)


def _owner_gone(
    tx: Transaction, by: Actor | Anonymous, event: MemberLeft | MemberRemoved | OwnerDemoted
) -> None:
    """Their URLs were chosen by a former owner."""
    reason = f"{event.member}, who added it, is no longer an owner of {event.scope}."
    _disable(tx, by, reason, lambda it: it.created_by == event.member, event.scope)


def _scope_released(tx: Transaction, _by: Actor | Anonymous, event: ScopeReleased) -> None:
    remove_webhooks_of(tx, event.scope)


def _disable(
    tx: Transaction,
    by: Actor | Anonymous,
    reason: str,
    is_lost: Callable[[Webhook], bool],
    scope: str | None = None,
) -> None:
    for webhook in list_enabled_webhooks(tx.connection, scope):
        if is_lost(webhook):
            disable_webhook(tx, webhook.id, reason)
            disabled = WebhookDisabled(scope=webhook.scope, webhook=webhook.id, reason=reason)
            append(tx, by, disabled)


HOOKS: Hooks = {
    AccountClosed: _account_closed,
    AccountDisabled: _account_disabled,
    OperatorDismissed: _operator_dismissed,
    OwnerDemoted: _owner_gone,
    MemberLeft: _owner_gone,
    MemberRemoved: _owner_gone,
    ScopeReleased: _scope_released,
}
