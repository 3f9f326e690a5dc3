"""Webhooks and deliveries as JSON, without secrets."""

from typing import Any

from ..core.clock import from_ms, iso
from .model import Delivery, Webhook


def shown_webhook(webhook: Webhook) -> dict[str, Any]:
    return {
        "id": webhook.id,
        "scope": webhook.scope,
        "url": webhook.url,
        "types": webhook.types,
        "createdAt": _at(webhook.created_at),
        "createdBy": webhook.created_by,
        "rotatedAt": _at(webhook.rotated_at),
        "position": webhook.position,
        "failingSince": _at(webhook.failing_since),
        "disabledAt": _at(webhook.disabled_at),
        "disabledReason": webhook.disabled_reason,
    }


def shown_delivery(delivery: Delivery) -> dict[str, Any]:
    return {
        "id": delivery.id,
        "seq": delivery.seq,
        "type": delivery.type,
        "state": delivery.state,
        "body": delivery.body,
        "queuedAt": _at(delivery.queued_at),
        "attempts": delivery.attempts,
        "nextAttemptAt": _at(delivery.next_at),
        "lastAttemptAt": _at(delivery.tried_at),
        "lastStatus": delivery.status,
        "lastError": delivery.error,
    }


def _at(ms: int | None) -> str | None:
    return None if ms is None else iso(from_ms(ms))
