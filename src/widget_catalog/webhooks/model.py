"""Webhooks: events, targets, signatures, and the retry schedule.

Signatures follow the Standard Webhooks specification: HMAC-SHA256 of `id.timestamp.body`.
"""

import base64
import binascii
import hmac
import random
import re
import secrets
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, get_args
from urllib.parse import urlsplit

from widget_contract.wire_running import ChangeType

from ..catalog.model.events import Event
from ..core.actors import COMMAND_LINE, OWNER, Rule
from ..core.clock import from_ms, iso
from ..core.errors import FieldMessage, InvalidRequest
from ..core.networks import Network, is_public
from .settings import WebhookSettings


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


TYPES: tuple[str, ...] = get_args(ChangeType)
PING = "ping"
MAY_MANAGE = Rule(OWNER, refusal="The webhooks of {scope} are for its owners.")
SECRET_PREFIX = "whsec_"  # noqa: S105
_SECRET_BYTES = 32
_MAX_URL = 2_000
# Labels of a host name have 1 to 63 characters, and the name at most 253.
_HOST = re.compile(r"(?=.{1,253}\Z)[\w-]{1,63}(\.[\w-]{1,63})*", re.ASCII)
# Resolvers parse these as IPv4 addresses.
_NUMBER = re.compile(r"(0x[0-9a-f]*|[0-9]+)(\.(0x[0-9a-f]*|[0-9]+))*")

_SECOND_MS = 1_000
_HOUR_MS = 3_600_000
_DAY_MS = 24 * _HOUR_MS
# Retries follow after 5 s, 20 s, 80 s and so on, up to every 6 hours, for a day.
_FIRST_PAUSE_MS = 5 * _SECOND_MS
_LONGEST_PAUSE_MS = 6 * _HOUR_MS
RETRIED_FOR_MS = _DAY_MS
# A webhook is disabled after all its deliveries have failed for this long.
DISABLED_AFTER_MS = 3 * _DAY_MS
# Longest pause for a failing webhook, whatever is pending for it.
_LONGEST_REST_MS = 5 * 60 * _SECOND_MS
# For this long after a rotation, deliveries are also signed with the old secret.
BOTH_SECRETS_MS = _DAY_MS


class Webhook(NamedTuple):
    id: str
    scope: str | None
    """None: the whole catalog."""
    url: str
    types: tuple[str, ...]
    """None of them named: all."""
    sealed_secret: str
    created_at: int
    created_by: str
    position: int
    """The number of the last change that was looked at for it."""
    former_sealed_secret: str | None = None
    rotated_at: int | None = None
    failures: int = 0
    """How many deliveries in a row have failed."""
    failing_since: int | None = None
    resumes_at: int = 0
    disabled_at: int | None = None
    disabled_reason: str | None = None

    @property
    def owner(self) -> str:
        """With whose webhooks it shares the limits on concurrent work: those of the account that
        added it or, for one that was added on the command line, those of the scope.
        """
        return (self.scope or "") if self.created_by == COMMAND_LINE.name else self.created_by

    def wants(self, scope: str, type_: str) -> bool:
        return self.scope in (None, scope) and (not self.types or type_ in self.types)


class Delivery(NamedTuple):
    id: str
    webhook_id: str
    seq: int | None
    """The change that it carries; None: a test."""
    type: str
    body: str
    state: str
    """`waiting`, `delivered` or `failed`."""
    queued_at: int
    attempts: int
    next_at: int | None
    tried_at: int | None = None
    status: int | None = None
    """What the receiver has answered last."""
    error: str | None = None
    traceparent: str | None = None
    """The trace of the request that made the change."""


class Outcome(NamedTuple):
    """The result of a delivery. Without a status and an error it was not sent."""

    delivery: Delivery
    status: int | None = None
    error: str | None = None

    @property
    def was_sent(self) -> bool:
        return self.status is not None or self.error is not None

    @property
    def is_delivered(self) -> bool:
        return self.error is None and self.status is not None


def new_webhook_secret() -> str:
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def sign(secret: str, id_: str, timestamp_s: int, body: bytes) -> str:
    """Raises ValueError if this is not the secret of a webhook."""
    try:
        key = base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except binascii.Error as error:
        raise ValueError("not base64") from error
    signed = b"%b.%d.%b" % (id_.encode(), timestamp_s, body)
    return "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()


# Not the generator of the module, which is the same in all forked processes.
_SYSTEM = random.SystemRandom()


def pause_ms(attempts: int, chance: Callable[[], float] = _SYSTEM.random) -> int:
    """The backoff after this many failed attempts, with a quarter of jitter."""
    longest: int = min(_LONGEST_PAUSE_MS, _FIRST_PAUSE_MS * 4 ** min(attempts - 1, 20))
    return round(longest * (0.75 + chance() / 4))


def rest_ms(failures: int) -> int:
    rest: int = min(_LONGEST_REST_MS, _SECOND_MS * 2 ** min(failures, 20))
    return rest


def parse_url(text: str, settings: WebhookSettings) -> str:
    """A valid target URL, as far as can be checked without resolving it."""
    text = text.strip()
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise InvalidRequest("url: this is not an address.") from None
    errors = []
    schemes = ("https", "http") if settings.webhook_http else ("https",)
    if parts.scheme not in schemes:
        errors.append(f"url: must begin with {' or '.join(f'{it}://' for it in schemes)}.")
        if parts.scheme == "http":
            about_http = "The setting webhook_http of the catalog allows http://."
            errors.append(FieldMessage("url", about_http))
    if not host or port == 0:
        errors.append("url: has no host.")
    elif ":" not in host and not _HOST.fullmatch(host.rstrip(".")):
        errors.append("url: the host is not a host name.")
    if len(text) > _MAX_URL or not text.isascii():
        errors.append(f"url: must have at most {_MAX_URL:,} characters, all of them ASCII.")
    elif not text.isprintable() or " " in text:
        errors.append("url: must have no spaces and no control characters.")
    if parts.username is not None or parts.password is not None or "#" in text or "\\" in text:
        errors.append("url: must have no username, password or fragment.")
    if not errors and _is_seen_to_be_private(host, settings.networks):
        errors.append(
            "url: leads into a private network. The setting webhook_networks of the catalog allows "
            "some."
        )
    if errors:
        raise InvalidRequest(*errors)
    return text


def parse_types(types: Sequence[str]) -> tuple[str, ...]:
    """In the order of the feed's list; empty means every type."""
    unknown = sorted(set(types) - set(TYPES))
    if unknown:
        raise InvalidRequest(f"types: must be some of {', '.join(TYPES)}.")
    return tuple(it for it in TYPES if it in types)


def _is_seen_to_be_private(host: str, networks: Sequence[Network]) -> bool:
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith((".localhost", ".local", ".internal")):
        return not networks
    is_number = ":" in name or _NUMBER.fullmatch(name) is not None
    return is_number and not is_public(name, networks)


def shown_webhook(webhook: Webhook) -> dict[str, Any]:
    """As JSON, without secrets."""
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
