"""Handlers: the endpoints of the OAuth server, where session cookies are ignored; and its pages for
people: consent, and the code that a device without a browser shows.
"""

from urllib.parse import urlsplit

from ...core.db.engine import Store
from ...core.errors import InvalidRequest, NotFound, NotSignedIn, TooOften
from ...core.http.call import OAUTH_BASE, Call, Services, email_for, is_asked_by_program, reply
from ...core.http.errors import oauth_failure
from ...core.http.http import Response
from ...core.http.rendering import leave
from ...core.http.sent_form import code_page, done_page, own_page
from ..permissions import require_person
from ..services import AccountServices
from ..settings import GRANTS, SCOPES
from ..sign_in import identify_bearer
from . import serving
from .serving import Consent, OAuthConfig, OAuthResponse, Pairs, Refused

_DEVICE = ("Sign in a device", "Enter the code shown on the device.")


def post_token(services: Services, call: Call) -> Response:
    return _reply_of(serving.exchange(*_sent(services, call)))


def post_revoke(services: Services, call: Call) -> Response:
    return _reply_of(serving.revoke(*_sent(services, call)))


def post_device_start(services: Services, call: Call) -> Response:
    return _reply_of(serving.start_device(*_sent(services, call)))


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
        if decision is None:
            device = serving.find_device_request(*who, code)
            return own_page(services, call, "accounts/device_consent.html", device=device)
        name = serving.decide_device(*who, code, is_agreed=decision == "continue").client_name
    except (NotFound, TooOften) as refusal:
        return code_page(services, call, *_DEVICE, code, refusal)
    if decision != "continue":
        return done_page(services, call, "Sign-in denied", f"{name} has been refused access.")
    sentence = f"{name} goes on by itself now. You can close this page."
    return done_page(services, call, "Device signed in", sentence)
