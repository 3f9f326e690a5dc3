"""Events of webhooks. Without a scope, the webhook is for the whole catalog."""

from ..catalog.events import Event


class WebhookAdded(Event, frozen=True):
    kind = "webhook_added"
    action = "add webhook"

    webhook: str
    url: str


class WebhookRemoved(Event, frozen=True):
    kind = "webhook_removed"
    action = "remove webhook"

    webhook: str
    url: str


class WebhookSecretRotated(Event, frozen=True):
    kind = "webhook_secret_rotated"
    action = "rotate webhook secret"

    webhook: str


class WebhookEnabled(Event, frozen=True):
    kind = "webhook_enabled"
    action = "enable webhook"

    webhook: str


class WebhookDisabled(Event, frozen=True):
    """By a person; by the service, after a long series of failures; or because the person who
    added it may no longer do so.
    """

    kind = "webhook_disabled"
    action = "disable webhook"

    webhook: str
    reason: str


class WebhookPinged(Event, frozen=True):
    kind = "webhook_pinged"
    action = "ping webhook"

    webhook: str


class WebhookDeliveryReplayed(Event, frozen=True):
    kind = "webhook_delivery_replayed"
    action = "replay webhook delivery"

    webhook: str
    delivery: str
