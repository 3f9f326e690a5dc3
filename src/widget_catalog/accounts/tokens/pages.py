"""The page where a person confirms an access token requested by a program."""

from ...accounts.services import AccountServices
from ...core.errors import NotFound
from ...core.http.call import Call
from ...core.http.errors import status_of
from ...core.http.http import Response
from ...core.http.services import Services
from ..pages.own_page import done_page, own_page
from .confirm_token import code_of, decide_token, view_token_request

_HERE = "/account/token"


def get_token_request(services: Services, call: Call) -> Response:
    code = call.query().get("code", "")
    return _show(services, call, code) if code else _ask(services, call, code)


def post_token_request(services: Services, call: Call) -> Response:
    """First the code, if it was typed; then the decision."""
    form = call.form()
    code, decision = form.get("user_code", ""), form.get("decision")
    if decision is None:
        return _show(services, call, code)
    is_agreed = decision == "continue"
    try:
        request = decide_token(services.store, call.visitor, code, is_agreed=is_agreed)
    except NotFound as fault:
        return _ask(services, call, code, fault)
    if is_agreed:
        sentence = f"The program now receives the token {request.name}. You can close this page."
        return done_page(services, call, "Confirmed", sentence)
    return done_page(services, call, "Refused", "No token was created.")


def _show(services: Services, call: Call, code: str) -> Response:
    try:
        request, client_id = view_token_request(services.store, call.visitor, code)
    except NotFound as fault:
        return _ask(services, call, code, fault)
    client = services.of(AccountServices).oauth.clients.get(client_id)
    return own_page(
        services,
        call,
        "accounts/token_request.html",
        client_name=client.name if client is not None else client_id,
        request=request,
        user_code=code_of(request),
    )


def _ask(services: Services, call: Call, code: str, fault: NotFound | None = None) -> Response:
    return own_page(
        services,
        call,
        "accounts/code.html",
        status=status_of(fault) if fault is not None else 200,
        heading="Confirm an access token",
        lead="Enter the code shown by the program.",
        action=_HERE,
        user_code=code[:40],
        faults=[fault.message] if fault is not None else [],
    )
