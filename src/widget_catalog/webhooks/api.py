"""Handlers: webhooks and their deliveries."""

from collections.abc import Callable, Sequence

import msgspec

from ..accounts.services import AccountServices
from ..core.http.call import Call, done, reply
from ..core.http.http import Response
from ..core.http.routing import Handler
from ..core.http.services import Services
from ..publishing.quotas import Quotas
from . import managing
from .managing import IssuedWebhook
from .model import Delivery, shown_delivery, shown_webhook
from .settings import WebhookSettings

Action = Callable[[Services, Call], Delivery | None]
"""Changes the webhook in the path; returns a delivery that is queued."""


class WebhookBody(msgspec.Struct, rename="camel", kw_only=True):
    url: str
    scope: str | None = None
    types: list[str] = []


def _enable(services: Services, call: Call) -> None:
    id_, quotas = call.params["id"], services.of(Quotas)
    managing.set_enabled(services.store, call.actor, id_, quotas, is_enabled=True)


def _disable(services: Services, call: Call) -> None:
    managing.set_enabled(services.store, call.actor, call.params["id"], is_enabled=False)


def _ping(services: Services, call: Call) -> Delivery:
    return managing.send_ping(services.store, call.actor, call.params["id"], services.of(Quotas))


def _replay(services: Services, call: Call) -> Delivery:
    id_, delivery, quotas = call.params["id"], call.params["delivery"], services.of(Quotas)
    return managing.replay_delivery(services.store, call.actor, id_, delivery, quotas)


# What a route and a form do alike, by the end of their paths.
ACTIONS: dict[str, Action] = {
    "enable": _enable,
    "disable": _disable,
    "ping": _ping,
    "deliveries/{delivery}/replay": _replay,
}


def handler_of(action: Action) -> Handler:
    def handle(services: Services, call: Call) -> Response:
        delivery = action(services, call)
        return done() if delivery is None else reply(shown_delivery(delivery), status=202)

    return handle


def create(
    services: Services, call: Call, url: str, scope: str | None, types: Sequence[str]
) -> IssuedWebhook:
    box, settings = services.of(AccountServices).factor_policy.box, services.settings
    return managing.create_webhook(
        services.store,
        call.actor,
        box,
        settings.of(WebhookSettings),
        url,
        scope=scope,
        types=types,
        quotas=services.of(Quotas),
    )


def rotate(services: Services, call: Call) -> IssuedWebhook:
    box, id_ = services.of(AccountServices).factor_policy.box, call.params["id"]
    return managing.rotate_secret(services.store, call.actor, box, id_, services.of(Quotas))


def get_webhooks(services: Services, call: Call) -> Response:
    """Those of one scope, or all that the person may manage."""
    scope = call.query().get("scope")
    found = managing.list_managed_webhooks(services.store, call.actor, scope)
    return reply({"webhooks": [shown_webhook(it) for it in found]})


def post_webhook(services: Services, call: Call) -> Response:
    body = call.json(WebhookBody)
    return reply(create(services, call, body.url, body.scope, body.types).shown, status=201)


def get_webhook(services: Services, call: Call) -> Response:
    webhook, *_ = managing.show_webhook(services.store, call.actor, call.params["id"], 1, 1)
    return reply(shown_webhook(webhook))


def delete_webhook(services: Services, call: Call) -> Response:
    managing.delete_webhook(services.store, call.actor, call.params["id"])
    return done()


def post_rotate(services: Services, call: Call) -> Response:
    return reply(rotate(services, call).shown)


def get_deliveries(services: Services, call: Call) -> Response:
    page, limit = call.page()
    id_ = call.params["id"]
    _, found, total = managing.show_webhook(services.store, call.actor, id_, page, limit)
    shown = [shown_delivery(it) for it in found]
    return reply({"deliveries": shown, "total": total, "page": page, "limit": limit})
