"""The page to create an access token. Its secret is shown once."""

from collections.abc import Mapping

from ...core.actors import TOKEN_RIGHTS, Right
from ...core.errors import InvalidRequest
from ...core.http.call import Call
from ...core.http.errors import status_of
from ...core.http.http import Response
from ...core.http.services import Services
from ..memberships import list_publishing_scopes
from ..pages.own_page import own_page
from .issue_token import MAX_DAYS, FieldNames, issue_token, parse_limits

_FIRST = {"days": "90"}
_PLACES = "Scopes and widgets"
_CALLED = FieldNames("Name", "Permissions", "Days", _PLACES, _PLACES)
_WORDS = {
    Right.PUBLISH: "publish versions",
    Right.YANK: "yank and unyank versions",
    Right.DEPRECATE: "deprecate and undeprecate versions",
    Right.LIST: "list and unlist widgets",
}


def get_new_token(services: Services, call: Call) -> Response:
    return _form(services, call, _FIRST, {Right.PUBLISH})


def post_new_token(services: Services, call: Call) -> Response:
    typed = call.form()
    actions = [value for key, value in call.form_pairs() if key == "may"]
    try:
        name, days = typed.get("name", "").strip(), _whole_number(typed.get("days", ""))
        places = typed.get("places", "").replace(",", " ").replace("@", " ").split()
        widgets = [it for it in places if "/" in it]
        scopes = [it for it in places if "/" not in it]
        limits = parse_limits(
            services.store, call.actor, name, actions, scopes, widgets, days, _CALLED
        )
        issued = issue_token(services.store, call.visitor, name=name, limits=limits, days=days)
    except InvalidRequest as fault:
        return _form(services, call, typed, {Right(it) for it in actions if it in _known()}, fault)
    return own_page(
        services,
        call,
        "accounts/made_token.html",
        script_rules="",
        secret=issued.secret,
        token=issued.token,
    )


def _known() -> set[str]:
    return {right.value for right in TOKEN_RIGHTS}


def _whole_number(text: str) -> int:
    """Invalid numbers become 0, which is rejected."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 9 else 0


def _form(
    services: Services,
    call: Call,
    typed: Mapping[str, str],
    chosen: set[Right],
    fault: InvalidRequest | None = None,
) -> Response:
    return own_page(
        services,
        call,
        "accounts/new_token.html",
        status=status_of(fault) if fault is not None else 200,
        actions=[(it.value, _WORDS[it], it in chosen) for it in TOKEN_RIGHTS],
        scopes=[it.name for it in list_publishing_scopes(services.store, call.actor)],
        typed=typed,
        max_days=MAX_DAYS,
        faults=[fault.message] if fault is not None else [],
    )
