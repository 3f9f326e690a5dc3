"""Events of webhooks. Without a scope, the webhook is for the whole catalog."""

from ..catalog.events import Event


class WebhookEvent(Event, frozen=True):
    webhook: str


class WebhookAdded(WebhookEvent, frozen=True):
    kind = "webhook_added"
    action = "add webhook"

    url: str


class WebhookRemoved(WebhookEvent, frozen=True):
    kind = "webhook_removed"
    action = "remove webhook"

    url: str


class WebhookSecretRotated(WebhookEvent, frozen=True):
    kind = "webhook_secret_rotated"
    action = "rotate webhook secret"


class WebhookEnabled(WebhookEvent, frozen=True):
    kind = "webhook_enabled"
    action = "enable webhook"


class WebhookDisabled(WebhookEvent, frozen=True):
    """By a person; by the service, after a long series of failures; or because the person who
    added it may no longer do so.
    """

    kind = "webhook_disabled"
    action = "disable webhook"

    reason: str


class WebhookPinged(WebhookEvent, frozen=True):
    kind = "webhook_pinged"
    action = "ping webhook"


class WebhookDeliveryReplayed(WebhookEvent, frozen=True):
    kind = "webhook_delivery_replayed"
    action = "replay webhook delivery"

    delivery: str
