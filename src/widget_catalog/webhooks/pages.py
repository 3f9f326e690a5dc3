"""Webhooks of the user's scopes or of the whole catalog, and the management page of one."""

from ..accounts.own_page import own_form_page, own_page
from ..core.errors import NotFound
from ..core.http.call import Call, Paging
from ..core.http.http import Response
from ..core.http.routing import Handler
from ..core.http.sent_form import CORRECTABLE, NOT_SENT, Page, SentForm, forms_of
from ..core.http.services import Services
from . import api, managing
from .managing import IssuedWebhook
from .model import TYPES

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


def _place(call: Call) -> str:
    return f"{WEBHOOKS}/{call.params['id']}"


def get_webhooks(services: Services, call: Call, sent: SentForm = NOT_SENT) -> Response:
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


def get_webhook(services: Services, call: Call, sent: SentForm = NOT_SENT) -> Response:
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


def post_webhook(services: Services, call: Call) -> Response:
    return _create(services, call, call.form().get("scope", ""), get_webhooks, WEBHOOKS)


def post_catalog_webhook(services: Services, call: Call) -> Response:
    return _create(services, call, None, get_all_webhooks, OPERATED)


def post_rotate(services: Services, call: Call) -> Response:
    issued = api.rotate(services, call)
    return _secret_page(services, call, issued, "New secret of the webhook", _place(call))


def post_remove(services: Services, call: Call) -> Response:
    removed = managing.delete_webhook(services.store, call.actor, call.params["id"])
    place = OPERATED if removed.scope is None else WEBHOOKS
    return services.renderer.redirect(f"{place}?done=remove")


def handler_of(name: str, action: api.Action) -> Handler:
    form = forms_of(get_webhook, _place)(name.rpartition("/")[2])
    return form(lambda services, call, _fields: action(services, call))


def _create(services: Services, call: Call, scope: str | None, page: Page, back: str) -> Response:
    fields = call.form()
    types = [value for name, value in call.form_pairs() if name == "type"]
    try:
        issued = api.create(services, call, fields.get("url", ""), scope, types)
    except (*CORRECTABLE, NotFound) as error:
        typed = {**fields, "type": " ".join(types)}
        at = {"types": "type"} if scope is None else {"types": "type", "": "scope"}
        return page(services, call, SentForm("create", typed, error, at))
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
