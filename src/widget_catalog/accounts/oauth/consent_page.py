"""The OAuth consent page (the authorize endpoint)."""

from urllib.parse import urlsplit

from ...accounts.services import AccountServices
from ...core.errors import InvalidRequest
from ...core.http.call import Call, is_asked_by_program
from ...core.http.errors import oauth_failure
from ...core.http.http import Response
from ...core.http.rendering import leave
from ...core.http.services import Services
from ..pages.own_page import own_page
from ..permissions import require_person
from .serving import Answer, Consent, Refused, authorize, check_authorization


def get_authorize(services: Services, call: Call) -> Response:
    asked = check_authorization(services.of(AccountServices).oauth, call.query_pairs())
    if not isinstance(asked, Consent):
        return _sent(services, call, asked, status=302)
    if not call.is_signed_in:
        return services.renderer.sign_in_first(call.address_here)
    return own_page(
        services,
        call,
        "accounts/consent.html",
        form_targets=f"'self' {form_target(asked.redirect_uri)}",
        client_name=asked.client_name,
        returns_to=urlsplit(asked.redirect_uri).netloc,
        here=call.address_here,
    )


def post_authorize(services: Services, call: Call) -> Response:
    require_person(call.actor)
    is_agreed = call.form().get("decision") == "continue"
    pairs = call.query_pairs()
    answer = authorize(
        services.store,
        services.of(AccountServices).oauth,
        pairs,
        call.visitor if is_agreed else None,
    )
    return _sent(services, call, answer, status=303)


def form_target(redirect_uri: str) -> str:
    """The final target of the form: browsers apply `form-action` to redirects, too.

    The grammar of the policy has no IPv6 addresses, so only the port is stated for them.
    """
    parts = urlsplit(redirect_uri)
    host = "*" if parts.netloc.startswith("[") else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")


def _sent(services: Services, call: Call, answer: Answer | Refused, status: int) -> Response:
    if isinstance(answer, Refused):
        if is_asked_by_program(call.request):
            return oauth_failure(InvalidRequest(answer.sentence))
        is_unknown = answer.is_unknown_client
        title = (
            "This program is not registered" if is_unknown else "Invalid request from this program"
        )
        return services.renderer.message(400, title, answer.sentence)
    return leave(answer.location or "", status=status)
