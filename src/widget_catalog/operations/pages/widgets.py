"""All widgets, including unlisted ones. Each links to its management page."""

from widget_contract.names import is_name

from ...accounts.pages.own_page import own_page
from ...core.http.call import Call
from ...core.http.http import Response
from ...core.http.paging import Paging
from ...core.http.services import Services
from ...publishing.widget_pages import WIDGETS
from ..operate_catalog import search_widgets

STATES = ("official", "unlisted", "revoked")
_PER_PAGE = 50
_RULE = "Enter a scope, or a scope and a name such as ann/clock."


def get_widgets(services: Services, call: Call) -> Response:
    query = call.query()
    text = query.get("q", "").strip().removeprefix("@")
    state = query.get("state")
    state = state if state in STATES else None
    scope, slash, name = text.partition("/")
    page, _ = call.page()
    is_readable = not text or (is_name(scope) and (not slash or is_name(name)))
    found, total = search_widgets(
        services.store,
        call.actor,
        scope if text and is_readable else None,
        state,
        page,
        _PER_PAGE,
    )
    if slash and is_readable:
        return services.renderer.redirect(f"{WIDGETS}/{text}")
    return own_page(
        services,
        call,
        "operations/widgets.html",
        status=200 if is_readable else 400,
        text=text,
        state=state,
        states=STATES,
        widgets=[it.widget for it in found] if is_readable else [],
        total=total if is_readable else 0,
        paging=Paging.of(call, page, _PER_PAGE, total),
        faults=[] if is_readable else [_RULE],
    )
