"""Handlers: webhooks and their deliveries, over the API and on pages."""

from collections.abc import Callable, Sequence

import msgspec

from ..accounts.services import AccountServices
from ..core.errors import NotFound
from ..core.http.call import Call, Paging
from ..core.http.http import Response
from ..core.http.replies import done, reply
from ..core.http.routing import Handler, Route, StepUp, Who, page
from ..core.http.sent_form import (
    CORRECTABLE,
    NOT_SENT,
    Page,
    SentForm,
    forms_of,
    own_form_page,
    own_page,
)
from ..core.http.services import Services
from ..publishing.quotas import Quotas
from . import managing
from .managing import IssuedWebhook
from .model import TYPES, Delivery, shown_delivery, shown_webhook
from .settings import WebhookSettings

WEBHOOKS = "/account/webhooks"
OPERATED = "/operate/webhooks"
_PER_PAGE = 20
_DONE = {
    "remove": "The webhook was removed.",
    "enable": "The webhook was enabled. It receives events from now on.",
    "disable": "The webhook was disabled. Nothing is sent to it.",
    "ping": "The test event was queued. Reload this page to see the result.",
    "replay": "The delivery was queued again. Reload this page to see the result.",
}


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


def _create(
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


def _rotate(services: Services, call: Call) -> IssuedWebhook:
    box, id_ = services.of(AccountServices).factor_policy.box, call.params["id"]
    return managing.rotate_secret(services.store, call.actor, box, id_, services.of(Quotas))


def get_webhooks(services: Services, call: Call) -> Response:
    """Those of one scope, or all that the person may manage."""
    scope = call.query().get("scope")
    found = managing.list_managed_webhooks(services.store, call.actor, scope)
    return reply({"webhooks": [shown_webhook(it) for it in found]})


def post_webhook(services: Services, call: Call) -> Response:
    body = call.json(WebhookBody)
    return reply(_create(services, call, body.url, body.scope, body.types).shown, status=201)


def get_webhook(services: Services, call: Call) -> Response:
    webhook, *_ = managing.show_webhook(services.store, call.actor, call.params["id"], 1, 1)
    return reply(shown_webhook(webhook))


def delete_webhook(services: Services, call: Call) -> Response:
    managing.delete_webhook(services.store, call.actor, call.params["id"])
    return done()


def post_rotate(services: Services, call: Call) -> Response:
    return reply(_rotate(services, call).shown)


def get_deliveries(services: Services, call: Call) -> Response:
    page, limit = call.page()
    id_ = call.params["id"]
    _, found, total = managing.show_webhook(services.store, call.actor, id_, page, limit)
    shown = [shown_delivery(it) for it in found]
    return reply({"deliveries": shown, "total": total, "page": page, "limit": limit})


def _place(call: Call) -> str:
    return f"{WEBHOOKS}/{call.params['id']}"


def get_webhooks_page(services: Services, call: Call, sent: SentForm = NOT_SENT) -> Response:
    webhooks = managing.list_own_webhooks(services.store, call.actor)
    shown = {"webhooks": webhooks, "types": TYPES}
    scopes = managing.list_owned_scopes(services.store, call.actor)
    return own_form_page(
        services, call, "webhooks/webhooks.html", sent, _DONE, **shown, scopes=scopes
    )


def get_all_webhooks(services: Services, call: Call, sent: SentForm = NOT_SENT) -> Response:
    webhooks = managing.list_all_webhooks(services.store, call.actor)
    shown = {"webhooks": webhooks, "types": TYPES}
    return own_form_page(services, call, "webhooks/operator.html", sent, _DONE, **shown)


def get_webhook_page(services: Services, call: Call, sent: SentForm = NOT_SENT) -> Response:
    page, _ = call.page()
    id_ = call.params["id"]
    webhook, found, total = managing.show_webhook(services.store, call.actor, id_, page, _PER_PAGE)
    return own_form_page(
        services,
        call,
        "webhooks/webhook.html",
        sent,
        _DONE,
        webhook=webhook,
        deliveries=found,
        total=total,
        paging=Paging.of(call, page, _PER_PAGE, total),
        place=_place(call),
        back=OPERATED if webhook.scope is None else WEBHOOKS,
    )


def post_webhook_form(services: Services, call: Call) -> Response:
    return _create_by_form(
        services, call, call.form().get("scope", ""), get_webhooks_page, WEBHOOKS
    )


def post_catalog_webhook(services: Services, call: Call) -> Response:
    return _create_by_form(services, call, None, get_all_webhooks, OPERATED)


def post_rotate_form(services: Services, call: Call) -> Response:
    issued = _rotate(services, call)
    return _secret_page(services, call, issued, "New secret of the webhook", _place(call))


def post_remove(services: Services, call: Call) -> Response:
    removed = managing.delete_webhook(services.store, call.actor, call.params["id"])
    place = OPERATED if removed.scope is None else WEBHOOKS
    return services.renderer.redirect(f"{place}?done=remove")


_form = forms_of(get_webhook_page, _place)


def form_of(name: str, action: Action) -> Handler:
    form = _form(name.rpartition("/")[2])
    return form(lambda services, call, _fields: action(services, call))


def _create_by_form(
    services: Services, call: Call, scope: str | None, show: Page, back: str
) -> Response:
    fields = call.form()
    types = [value for name, value in call.form_pairs() if name == "type"]
    try:
        issued = _create(services, call, fields.get("url", ""), scope, types)
    except (*CORRECTABLE, NotFound) as error:
        typed = {**fields, "type": " ".join(types)}
        at = {"types": "type"} if scope is None else {"types": "type", "": "scope"}
        return show(services, call, SentForm("create", typed, error, at))
    return _secret_page(services, call, issued, "The webhook was added", back)


def _secret_page(
    services: Services, call: Call, issued: IssuedWebhook, title: str, back: str
) -> Response:
    return own_page(
        services,
        call,
        "author/link.html",
        what="The secret",
        title=title,
        here="webhooks",
        sentence="The receiver verifies signatures with this secret.",
        note=None,
        link=issued.secret,
        back=back,
    )


_API = "/api/webhooks"
_WEBHOOK = _API + "/{id}"
_PAGE = WEBHOOKS + "/{id}"

# The actions check the owner: webhooks of others do not exist for the actor.
ROUTES = (
    Route("GET", _API, get_webhooks, Who.PERSON),
    Route("POST", _API, post_webhook, Who.PERSON, step_up=StepUp.FACTOR),
    Route("GET", _WEBHOOK, get_webhook, Who.PERSON),
    Route("DELETE", _WEBHOOK, delete_webhook, Who.PERSON),
    Route("POST", _WEBHOOK + "/rotate", post_rotate, Who.PERSON, step_up=StepUp.FACTOR),
    Route("GET", _WEBHOOK + "/deliveries", get_deliveries, Who.PERSON),
    page("GET", WEBHOOKS, get_webhooks_page, Who.PERSON),
    page("POST", WEBHOOKS, post_webhook_form, Who.PERSON, step_up=StepUp.FACTOR),
    page("GET", _PAGE, get_webhook_page, Who.PERSON),
    page("POST", _PAGE + "/rotate", post_rotate_form, Who.PERSON, step_up=StepUp.FACTOR),
    page("POST", _PAGE + "/remove", post_remove, Who.PERSON),
    page("GET", OPERATED, get_all_webhooks, Who.OPERATOR),
    page("POST", OPERATED, post_catalog_webhook, Who.OPERATOR, step_up=StepUp.FACTOR),
    *(
        route
        for name, action in ACTIONS.items()
        for route in (
            Route("POST", f"{_WEBHOOK}/{name}", handler_of(action), Who.PERSON),
            page("POST", f"{_PAGE}/{name}", form_of(name, action), Who.PERSON),
        )
    ),
)
