"""The base of pages with forms: for anybody, and for signed-in users, with CSRF tokens."""

from collections.abc import Mapping
from typing import Any

from widget_contract.errors import CatalogError

from ..core.errors import InvalidAccount
from ..core.http.call import Call
from ..core.http.errors import headers_of, status_of
from ..core.http.http import Response
from ..core.http.rendering import Header
from ..core.http.sent_form import SentForm
from ..core.http.services import Services


def form_page(
    services: Services, template: str, *headers: Header, error: CatalogError | None, **values: Any
) -> Response:
    """`error` is why the form was rejected: the page shows it, and has its status and headers."""
    messages: list[str] = []
    if error is not None:
        values.setdefault("status", status_of(error))
        headers = (*headers, *headers_of(error))
        messages = list(error.errors) if isinstance(error, InvalidAccount) else [error.message]
    return services.renderer.page(template, *headers, **{"errors": messages, **values})


def own_page(
    services: Services, call: Call, template: str, *headers: Header, **values: Any
) -> Response:
    """With `error`: see `form_page`."""
    actor, error = call.actor, values.pop("error", None)
    who = {"username": actor.name, "is_operator": actor.is_operator, "csrf_token": call.csrf_token}
    return form_page(services, template, *headers, error=error, **who, **values)


def own_form_page(
    services: Services,
    call: Call,
    template: str,
    sent: SentForm,
    done: Mapping[str, str],
    **values: Any,
) -> Response:
    """A page with forms: with the errors of one that was sent, or a sentence of `done` about it."""
    values |= {"sent": sent, "done": done.get(call.query().get("done", ""))}
    return own_page(services, call, template, error=sent.error, **values)


def done_page(services: Services, call: Call, title: str, sentence: str) -> Response:
    return own_page(services, call, "accounts/done.html", title=title, sentence=sentence)


def code_page(
    services: Services, call: Call, heading: str, lead: str, code: str, error: Any = None
) -> Response:
    """Asks for the code that a program or a device shows."""
    texts = {"heading": heading, "lead": lead, "user_code": code[:40]}
    path = call.request.path
    return own_page(services, call, "accounts/code.html", error=error, action=path, **texts)
