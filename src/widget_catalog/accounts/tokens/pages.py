"""The pages to create an access token, whose secret is shown once, and to confirm one that a
program requests.
"""

from collections.abc import Mapping

from ...core.actors import TOKEN_RIGHTS, Right
from ...core.credentials import shown_code
from ...core.errors import InvalidRequest, NotFound
from ...core.http.call import Call
from ...core.http.http import Response
from ...core.http.services import Services
from ..pages.own_page import code_page, done_page, own_page
from ..permissions import list_publishing_scopes
from ..services import AccountServices
from .issue_token import (
    MAX_DAYS,
    FieldNames,
    decide_token,
    issue_token,
    parse_wanted,
    view_token_request,
)

_CONFIRM = ("Confirm an access token", "Enter the code shown by the program.")
_FIRST = {"days": "90"}
_PLACES = "Scopes and widgets"
_CALLED = FieldNames("Name", "Permissions", "Days", _PLACES, _PLACES)
_WORDS = {
    Right.PUBLISH: "publish versions",
    Right.YANK: "yank and unyank versions",
    Right.DEPRECATE: "deprecate and undeprecate versions",
    Right.LIST: "list and unlist widgets",
}


def get_token_request(services: Services, call: Call) -> Response:
    code = call.query().get("code", "")
    return _show(services, call, code) if code else code_page(services, call, *_CONFIRM, code)


def post_token_request(services: Services, call: Call) -> Response:
    """First the code, if it was typed; then the decision."""
    form = call.form()
    code, decision = form.get("user_code", ""), form.get("decision")
    if decision is None:
        return _show(services, call, code)
    is_agreed = decision == "continue"
    try:
        request = decide_token(services.store, call.visitor, code, is_agreed=is_agreed)
    except NotFound as error:
        return code_page(services, call, *_CONFIRM, code, error)
    if not is_agreed:
        return done_page(services, call, "Refused", "No token was created.")
    name = request.wanted.name
    sentence = f"The program now receives the token {name}. You can close this page."
    return done_page(services, call, "Confirmed", sentence)


def _show(services: Services, call: Call, code: str) -> Response:
    try:
        request, client_id = view_token_request(services.store, call.visitor, code)
    except NotFound as error:
        return code_page(services, call, *_CONFIRM, code, error)
    client = services.of(AccountServices).oauth.clients.get(client_id)
    return own_page(
        services,
        call,
        "accounts/token_request.html",
        client_name=client.name if client is not None else client_id,
        request=request.wanted,
        user_code=shown_code(request.user_code),
    )


def get_new_token(services: Services, call: Call) -> Response:
    return _form(services, call, _FIRST, {Right.PUBLISH})


def post_new_token(services: Services, call: Call) -> Response:
    typed = call.form()
    actions = [value for key, value in call.form_pairs() if key == "may"]
    name, days = typed.get("name", "").strip(), _whole_number(typed.get("days", ""))
    places = typed.get("places", "").replace(",", " ").replace("@", " ").split()
    scopes = [place for place in places if "/" not in place]
    widgets = [place for place in places if "/" in place]
    what = (name, actions, scopes, widgets, days)
    try:
        wanted = parse_wanted(services.store, call.actor, *what, _CALLED)
        issued = issue_token(services.store, call.visitor, wanted)
    except InvalidRequest as error:
        chosen = {right for right in TOKEN_RIGHTS if right.value in actions}
        return _form(services, call, typed, chosen, error)
    return own_page(
        services,
        call,
        "accounts/made_token.html",
        script_rules="",
        secret=issued.secret,
        token=issued.token,
    )


def _whole_number(text: str) -> int:
    """Invalid numbers become 0, which is rejected."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 9 else 0


def _form(
    services: Services,
    call: Call,
    typed: Mapping[str, str],
    chosen: set[Right],
    error: InvalidRequest | None = None,
) -> Response:
    return own_page(
        services,
        call,
        "accounts/new_token.html",
        error=error,
        actions=[(right.value, _WORDS[right], right in chosen) for right in TOKEN_RIGHTS],
        scopes=[scope.name for scope in list_publishing_scopes(services.store, call.actor)],
        typed=typed,
        max_days=MAX_DAYS,
    )
