"""The base of pages for signed-in users: with the user's name, and CSRF tokens for forms."""

from collections.abc import Mapping
from typing import Any

from ...core.http.call import Call
from ...core.http.http import Response
from ...core.http.rendering import Header
from ...core.http.sent_form import SentForm
from ...core.http.services import Services


def own_page(
    services: Services, call: Call, template: str, *headers: Header, **values: Any
) -> Response:
    who: dict[str, Any] = {
        "username": call.actor.name,
        "csrf_token": call.csrf_token,
        "is_operator": call.actor.is_operator,
    }
    return services.renderer.page(template, *headers, **who, **values)


def form_page(
    services: Services,
    call: Call,
    template: str,
    sent: SentForm,
    done: Mapping[str, str],
    **values: Any,
) -> Response:
    """A page with forms: with the errors of one that was sent, or a sentence of `done` about it."""
    values |= {"sent": sent, "done": done.get(call.query().get("done", ""))}
    return own_page(services, call, template, *sent.headers, status=sent.status, **values)


def done_page(services: Services, call: Call, title: str, sentence: str) -> Response:
    return own_page(services, call, "accounts/done.html", title=title, sentence=sentence)
