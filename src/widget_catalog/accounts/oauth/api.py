"""Handlers: the endpoints of the OAuth server. Session cookies are ignored here."""

from ...accounts.services import AccountServices
from ...core.errors import NotSignedIn
from ...core.http.call import OAUTH_BASE, Call, email_for, reply
from ...core.http.errors import error
from ...core.http.http import Response
from ...core.http.services import Services
from ..sign_in import identify_bearer
from .server import GRANTS, SCOPES
from .serving import Answer, exchange, revoke, start_device


def post_token(services: Services, call: Call) -> Response:
    return _oauth_reply(
        exchange(
            services.store, services.of(AccountServices).oauth, call.form_pairs(), call.address
        )
    )


def post_revoke(services: Services, call: Call) -> Response:
    answer = revoke(
        services.store, services.of(AccountServices).oauth, call.form_pairs(), call.address
    )
    return _catalog_reply(answer)


def post_device(services: Services, call: Call) -> Response:
    answer = start_device(
        services.store, services.of(AccountServices).oauth, call.form_pairs(), call.address
    )
    return _catalog_reply(answer)


def get_userinfo(services: Services, call: Call) -> Response:
    given = call.request.headers.get("authorization") or ""
    scheme, _, token = given.partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise NotSignedIn("Authorization must be `Bearer` and a token.")
    actor = identify_bearer(services.store, token.strip(), call.address).actor
    account = actor.account
    if account is None:
        raise NotSignedIn("This token is unknown, expired or revoked.")
    return reply(
        {
            "sub": str(account.id),
            "name": account.username,
            "email": email_for(actor),
            "username": account.username,
        }
    )


def get_metadata(services: Services, _call: Call) -> Response:
    """Authorization server metadata (RFC 8414)."""
    issuer = services.of(AccountServices).oauth.issuer
    return reply(
        {
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
    )


def _oauth_reply(answer: Answer) -> Response:
    return reply(answer.body, status=answer.status)


def _catalog_reply(answer: Answer) -> Response:
    """Errors in our own format: OAuth's applies to its three main endpoints only."""
    if answer.status < 400:
        return _oauth_reply(answer)
    return error(answer.status, answer.body["error_description"])
