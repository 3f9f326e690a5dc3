"""Webhooks of the user's scopes or of the whole catalog, and the management page of one."""

from collections.abc import Callable, Mapping

from ..accounts.pages.own_page import own_page
from ..accounts.services import AccountServices
from ..core.errors import NotFound
from ..core.http.call import Call, Paging
from ..core.http.http import Response
from ..core.http.sent_form import CORRECTABLE, NOT_SENT, SentForm, take_form
from ..core.http.services import Services
from ..publishing.quotas import Quotas
from ..webhooks.model import WebhookRules
from . import managing
from .managing import IssuedWebhook
from .model import TYPES

WEBHOOKS = "/account/webhooks"
OPERATED = "/operate/webhooks"
_PER_PAGE = 20
_CORRECTABLE = (*CORRECTABLE, NotFound)
_DONE = {
    "remove": "The webhook was removed.",
    "enable": "The webhook was enabled. It receives events from now on.",
    "disable": "The webhook was disabled. Nothing is sent to it.",
    "ping": "The test event was queued. Reload this page to see the result.",
    "replay": "The delivery was queued again. Reload this page to see the result.",
}


def get_webhooks(services: Services, call: Call) -> Response:
    return _list_page(services, call, NOT_SENT)


def post_webhook(services: Services, call: Call) -> Response:
    scope = call.form().get("scope", "")
    return _create(services, call, scope, _list_page, WEBHOOKS)


def get_all_webhooks(services: Services, call: Call) -> Response:
    return _operator_page(services, call, NOT_SENT)


def post_catalog_webhook(services: Services, call: Call) -> Response:
    return _create(services, call, None, _operator_page, OPERATED)


def get_webhook(services: Services, call: Call) -> Response:
    return _page(services, call, NOT_SENT)


def post_rotate(services: Services, call: Call) -> Response:
    box, id_ = services.of(AccountServices).factor_policy.box, call.params["id"]
    issued = managing.rotate_secret(services.store, call.actor, box, id_, services.of(Quotas))
    return _secret_page(services, call, issued, "New secret of the webhook")


def post_enable(services: Services, call: Call) -> Response:
    def change(_fields: Mapping[str, str]) -> None:
        id_, quotas = call.params["id"], services.of(Quotas)
        managing.set_enabled(services.store, call.actor, id_, quotas, is_enabled=True)

    return _take(services, call, "enable", change)


def post_disable(services: Services, call: Call) -> Response:
    def change(_fields: Mapping[str, str]) -> None:
        managing.set_enabled(services.store, call.actor, call.params["id"], is_enabled=False)

    return _take(services, call, "disable", change)


def post_ping(services: Services, call: Call) -> Response:
    def change(_fields: Mapping[str, str]) -> None:
        managing.send_ping(services.store, call.actor, call.params["id"], services.of(Quotas))

    return _take(services, call, "ping", change)


def post_replay(services: Services, call: Call) -> Response:
    def change(_fields: Mapping[str, str]) -> None:
        id_, delivery = call.params["id"], call.params["delivery"]
        managing.replay_delivery(services.store, call.actor, id_, delivery, services.of(Quotas))

    return _take(services, call, "replay", change)


def post_remove(services: Services, call: Call) -> Response:
    removed = managing.delete_webhook(services.store, call.actor, call.params["id"])
    place = OPERATED if removed.scope is None else WEBHOOKS
    return services.renderer.redirect(f"{place}?done=remove")


def _create(
    services: Services,
    call: Call,
    scope: str | None,
    page: Callable[[Services, Call, SentForm], Response],
    back: str,
) -> Response:
    fields = call.form()
    types = [value for name, value in call.form_pairs() if name == "type"]
    try:
        issued = managing.create_webhook(
            services.store,
            call.actor,
            services.of(AccountServices).factor_policy.box,
            services.of(WebhookRules),
            fields.get("url", ""),
            scope=scope,
            types=types,
            quotas=services.of(Quotas),
        )
    except _CORRECTABLE as fault:
        return page(services, call, SentForm("create", fields, fault))
    return _secret_page(services, call, issued, "The webhook was added", back)


def _secret_page(
    services: Services, call: Call, issued: IssuedWebhook, title: str, back: str = ""
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
        back=back or _place(issued.webhook.id),
    )


def _take(
    services: Services, call: Call, form: str, change: Callable[[Mapping[str, str]], None]
) -> Response:
    place = _place(call.params["id"])
    return take_form(services, call, form, change, _page, place)


def _place(id_: str) -> str:
    return f"{WEBHOOKS}/{id_}"


def _list_page(services: Services, call: Call, sent: SentForm) -> Response:
    return own_page(
        services,
        call,
        "webhooks/webhooks.html",
        *sent.headers,
        status=sent.status,
        webhooks=managing.list_own_webhooks(services.store, call.actor),
        scopes=managing.list_owned_scopes(services.store, call.actor),
        types=TYPES,
        sent=sent,
        done=_DONE.get(call.query().get("done", "")),
    )


def _operator_page(services: Services, call: Call, sent: SentForm) -> Response:
    return own_page(
        services,
        call,
        "webhooks/operator.html",
        *sent.headers,
        status=sent.status,
        webhooks=managing.list_all_webhooks(services.store, call.actor),
        types=TYPES,
        sent=sent,
        done=_DONE.get(call.query().get("done", "")),
    )


def _page(services: Services, call: Call, sent: SentForm) -> Response:
    page, _ = call.page()
    id_ = call.params["id"]
    webhook, found, total = managing.show_webhook(services.store, call.actor, id_, page, _PER_PAGE)
    return own_page(
        services,
        call,
        "webhooks/webhook.html",
        *sent.headers,
        status=sent.status,
        webhook=webhook,
        deliveries=found,
        total=total,
        paging=Paging.of(call, page, _PER_PAGE, total),
        place=_place(id_),
        back=OPERATED if webhook.scope is None else WEBHOOKS,
        sent=sent,
        done=_DONE.get(call.query().get("done", "")),
    )
