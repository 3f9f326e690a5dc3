"""A page for somebody who is signed in: it says as whom, and its forms can be sent."""

from typing import Any

from ..http import Response
from ..internal.call import Call, Services
from ..look import Header


def own_page(
    services: Services, call: Call, template: str, *headers: Header, **values: Any
) -> Response:
    who: dict[str, Any] = {"username": call.actor.name, "csrf_token": call.csrf_token}
    return services.look.page(template, *headers, **who, **values)


def done_page(services: Services, call: Call, title: str, sentence: str) -> Response:
    return own_page(services, call, "done.html", title=title, sentence=sentence)
