"""Handlers: webhooks and their deliveries."""

from typing import Any

import msgspec

from ..accounts.services import AccountServices
from ..core.http.call import Call, done, reply
from ..core.http.http import Response
from ..core.http.services import Services
from ..publishing.quotas import Quotas
from ..webhooks.model import WebhookRules
from . import managing
from .managing import IssuedWebhook
from .showing import shown_delivery, shown_webhook


class WebhookBody(msgspec.Struct, rename="camel", kw_only=True):
    url: str
    scope: str | None = None
    types: list[str] = []


def get_webhooks(services: Services, call: Call) -> Response:
    """Those of one scope, or all that the person may manage."""
    scope = call.query().get("scope")
    found = managing.list_managed_webhooks(services.store, call.actor, scope)
    return reply({"webhooks": [shown_webhook(it) for it in found]})


def post_webhook(services: Services, call: Call) -> Response:
    body = call.json(WebhookBody)
    issued = managing.create_webhook(
        services.store,
        call.actor,
        services.of(AccountServices).factor_policy.box,
        services.of(WebhookRules),
        body.url,
        scope=body.scope,
        types=body.types,
        quotas=services.of(Quotas),
    )
    return reply(_with_secret(issued), status=201)


def get_webhook(services: Services, call: Call) -> Response:
    webhook, *_ = managing.show_webhook(services.store, call.actor, call.params["id"], 1, 1)
    return reply(shown_webhook(webhook))


def delete_webhook(services: Services, call: Call) -> Response:
    managing.delete_webhook(services.store, call.actor, call.params["id"])
    return done()


def post_rotate(services: Services, call: Call) -> Response:
    """The new secret, which is shown only once."""
    box, id_ = services.of(AccountServices).factor_policy.box, call.params["id"]
    issued = managing.rotate_secret(services.store, call.actor, box, id_, services.of(Quotas))
    return reply(_with_secret(issued))


def post_enable(services: Services, call: Call) -> Response:
    id_, quotas = call.params["id"], services.of(Quotas)
    managing.set_enabled(services.store, call.actor, id_, quotas, is_enabled=True)
    return done()


def post_disable(services: Services, call: Call) -> Response:
    managing.set_enabled(services.store, call.actor, call.params["id"], is_enabled=False)
    return done()


def post_ping(services: Services, call: Call) -> Response:
    id_ = call.params["id"]
    ping = managing.send_ping(services.store, call.actor, id_, services.of(Quotas))
    return reply(shown_delivery(ping), status=202)


def get_deliveries(services: Services, call: Call) -> Response:
    page, limit = call.page()
    id_ = call.params["id"]
    _, found, total = managing.show_webhook(services.store, call.actor, id_, page, limit)
    shown = [shown_delivery(it) for it in found]
    return reply({"deliveries": shown, "total": total, "page": page, "limit": limit})


def post_replay(services: Services, call: Call) -> Response:
    id_, delivery = call.params["id"], call.params["delivery"]
    again = managing.replay_delivery(services.store, call.actor, id_, delivery, services.of(Quotas))
    return reply(shown_delivery(again), status=202)


def _with_secret(issued: IssuedWebhook) -> dict[str, Any]:
    return shown_webhook(issued.webhook) | {"secret": issued.secret}
