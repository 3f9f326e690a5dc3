"""The base of pages with forms: for anybody, and for signed-in users, with CSRF tokens."""

from collections.abc import Mapping
from typing import Any

from ..core.http.call import Call
from ..core.http.errors import headers_of, status_of
from ..core.http.http import Response
from ..core.http.rendering import Header
from ..core.http.sent_form import NOT_SENT, SentForm
from ..core.http.services import Services


def form_page(
    services: Services, template: str, *headers: Header, sent: SentForm = NOT_SENT, **values: Any
) -> Response:
    """If the form was rejected, the page shows why, and has the error's status and headers."""
    if sent.error is not None:
        values.setdefault("status", status_of(sent.error))
        headers = (*headers, *headers_of(sent.error))
    return services.renderer.page(template, *headers, sent=sent, **values)


def own_page(
    services: Services, call: Call, template: str, *headers: Header, **values: Any
) -> Response:
    """With `sent`: see `form_page`."""
    actor = call.actor
    who: dict[str, Any] = {
        "username": actor.name,
        "is_operator": actor.is_operator,
        "csrf_token": call.csrf_token,
    }
    return form_page(services, template, *headers, **who, **values)


def own_form_page(
    services: Services,
    call: Call,
    template: str,
    sent: SentForm,
    done: Mapping[str, str],
    **values: Any,
) -> Response:
    """A page with forms: with the errors of one that was sent, or a sentence of `done` about it."""
    values["done"] = done.get(call.query().get("done", ""))
    return own_page(services, call, template, sent=sent, **values)


def done_page(services: Services, call: Call, title: str, sentence: str) -> Response:
    return own_page(services, call, "accounts/done.html", title=title, sentence=sentence)


def code_page(
    services: Services, call: Call, heading: str, lead: str, code: str, error: Any = None
) -> Response:
    """Asks for the code that a program or a device shows."""
    sent = SentForm("", {"user_code": code[:40]}, error, {"": "user_code"})
    texts = {"heading": heading, "lead": lead, "action": call.request.path}
    return own_page(services, call, "accounts/code.html", sent=sent, **texts)
