"""Disables webhooks of people who may no longer add them, until an owner enables them again."""

from ..accounts.events import WebhookDisabled
from ..catalog.store.events import append
from ..core.actors import Actor
from ..core.db.engine import Transaction
from .store import disable_webhook, list_enabled_webhooks


def disable_webhooks_of_account(tx: Transaction, actor: Actor, username: str, reason: str) -> None:
    """Those of a person's own scope, and those that they have added elsewhere."""
    for webhook in list_enabled_webhooks(tx.connection):
        if username in (webhook.scope, webhook.created_by):
            disable_webhook(tx, webhook.id, reason)
            append(
                tx, actor, WebhookDisabled(scope=webhook.scope, webhook=webhook.id, reason=reason)
            )


def disable_webhooks_added_by(tx: Transaction, actor: Actor, username: str, scope: str) -> None:
    """Their URLs were chosen by a former owner."""
    reason = f"{username}, who added it, is no longer an owner of {scope}."
    for webhook in list_enabled_webhooks(tx.connection, scope):
        if webhook.created_by == username:
            disable_webhook(tx, webhook.id, reason)
            append(tx, actor, WebhookDisabled(scope=scope, webhook=webhook.id, reason=reason))
