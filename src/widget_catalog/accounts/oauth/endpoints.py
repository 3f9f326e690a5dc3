"""Handlers: the endpoints of the OAuth server, where session cookies are ignored; and its pages for
people: consent, and the code that a program or a device without a browser shows.
"""

from urllib.parse import urlsplit

from ...core.db.engine import Store
from ...core.errors import InvalidRequest, NotFound, NotSignedIn, TooOften
from ...core.http.call import (
    OAUTH_BASE,
    Call,
    email_for,
    is_asked_by_program,
)
from ...core.http.errors import oauth_failure
from ...core.http.http import Response
from ...core.http.rendering import leave
from ...core.http.replies import reply
from ...core.http.sent_form import code_page, done_page, own_page
from ...core.http.services import Services
from ..permissions import require_person
from ..services import AccountServices
from ..settings import GRANTS, SCOPES
from ..sign_in import identify_bearer, is_fresh
from ..tokens.issue_token import TokenForm, parse_wanted
from . import devices, serving
from .devices import DeviceRequest
from .serving import Consent, OAuthConfig, OAuthResponse, Pairs, Refused

_DEVICE = ("Enter the code", "The program or device that waits for you shows it.")


def post_token(services: Services, call: Call) -> Response:
    return _reply_of(serving.exchange(*_sent(services, call)))


def post_revoke(services: Services, call: Call) -> Response:
    return _reply_of(serving.revoke(*_sent(services, call)))


def post_device_start(services: Services, call: Call) -> Response:
    return _reply_of(serving.start_device(*_sent(services, call)))


def post_token_request(services: Services, call: Call) -> Response:
    """A program starts the device grant for an access token; its user confirms it at /device."""
    require_person(call.actor)
    wanted = parse_wanted(services.store, call.actor, call.json(TokenForm))
    config = services.of(AccountServices).oauth
    return reply(devices.request_token(services.store, config, call.visitor, wanted))


def _sent(services: Services, call: Call) -> tuple[Store, OAuthConfig, Pairs, str]:
    return services.store, services.of(AccountServices).oauth, call.form_pairs(), call.address


def _reply_of(response: OAuthResponse) -> Response:
    return reply(response.body, status=response.status)


def get_userinfo(services: Services, call: Call) -> Response:
    given = call.request.headers.get("authorization") or ""
    scheme, _, token = given.partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise NotSignedIn("Authorization must be `Bearer` and a token.")
    visitor = identify_bearer(services.store, token.strip(), call.address)
    name, scopes = visitor.actor.name, visitor.oauth_scopes
    shown: dict[str, object] = {"sub": str(visitor.actor.account_id), "username": name}
    if scopes is None or "profile" in scopes:
        shown["name"] = name
    if scopes is None or "email" in scopes:
        shown["email"] = email_for(visitor)
    return reply(shown)


def get_metadata(services: Services, _call: Call) -> Response:
    """Authorization server metadata (RFC 8414)."""
    issuer = services.of(AccountServices).oauth.issuer
    about = {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}{OAUTH_BASE}/authorize",
        "token_endpoint": f"{issuer}{OAUTH_BASE}/token",
        "userinfo_endpoint": f"{issuer}{OAUTH_BASE}/userinfo",
        "revocation_endpoint": f"{issuer}{OAUTH_BASE}/revoke",
        "device_authorization_endpoint": f"{issuer}{OAUTH_BASE}/device",
        "scopes_supported": SCOPES,
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": GRANTS,
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
    }
    return reply(about)


def get_authorize(services: Services, call: Call) -> Response:
    asked = serving.check_authorization(services.of(AccountServices).oauth, call.query_pairs())
    if not isinstance(asked, Consent):
        return _redirect(services, call, asked, status=302)
    if not call.is_signed_in:
        return services.renderer.sign_in_first(call.address_here)
    shown = {
        "form_targets": f"'self' {form_target(asked.redirect_uri)}",
        "client_name": asked.client_name,
        "returns_to": urlsplit(asked.redirect_uri).netloc,
        "here": call.address_here,
    }
    return own_page(services, call, "accounts/consent.html", **shown)


def post_authorize(services: Services, call: Call) -> Response:
    require_person(call.actor)
    is_agreed = call.form().get("decision") == "continue"
    config, visitor = services.of(AccountServices).oauth, call.visitor if is_agreed else None
    response = serving.authorize(services.store, config, call.query_pairs(), visitor)
    return _redirect(services, call, response, status=303)


def form_target(redirect_uri: str) -> str:
    """The final target of the form: browsers apply `form-action` to redirects, too.

    The grammar of the policy has no IPv6 addresses, so only the port is stated for them.
    """
    parts = urlsplit(redirect_uri)
    host = "*" if parts.netloc.startswith("[") else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")


def _redirect(
    services: Services, call: Call, response: OAuthResponse | Refused, status: int
) -> Response:
    if not isinstance(response, Refused):
        return leave(response.location or "", status=status)
    if is_asked_by_program(call.request):
        return oauth_failure(InvalidRequest(response.sentence))
    is_unknown = response.is_unknown_client
    title = "This program is not registered" if is_unknown else "Invalid request from this program"
    return services.renderer.message(400, title, response.sentence)


def get_device(services: Services, call: Call) -> Response:
    return code_page(services, call, *_DEVICE, call.query().get("user_code", ""))


def post_device(services: Services, call: Call) -> Response:
    """First the code, then the decision."""
    form = call.form()
    code, decision = form.get("user_code", ""), form.get("decision")
    who = (services.store, services.of(AccountServices).oauth, call.visitor)
    try:
        found = devices.find_device_request(*who, code)
        # Anybody proves again who they are before a token that may last for a year, as on its form.
        if found.wanted is not None and not is_fresh(services.store, call.visitor):
            here = f"{call.request.path}?user_code={found.user_code}"
            return services.renderer.go_first("/account/confirm", here, status=303)
        if decision is None:
            return own_page(services, call, "accounts/device_consent.html", device=found)
        devices.decide_device(*who, code, is_agreed=decision == "continue")
    except (NotFound, TooOften) as refusal:
        return code_page(services, call, *_DEVICE, code, refusal)
    return done_page(services, call, *_outcome(found, is_agreed=decision == "continue"))


def _outcome(found: DeviceRequest, *, is_agreed: bool) -> tuple[str, str]:
    name = found.client_name
    if found.wanted is not None:
        if not is_agreed:
            return "Refused", "No token was created."
        token = found.wanted.name
        return "Confirmed", f"{name} now receives the token {token}. You can close this page."
    if not is_agreed:
        return "Sign-in denied", f"{name} has been refused access."
    return "Device signed in", f"{name} goes on by itself now. You can close this page."
