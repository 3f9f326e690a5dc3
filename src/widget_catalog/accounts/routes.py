"""Every route of accounts: the internal API, OAuth, and the pages."""

from ..core.http.call import OAUTH_BASE
from ..core.http.routing import AuthMode, Handler, Route, StepUp, Who, page
from . import session_api as sessions
from . import sign_in_api as signing_in
from .oauth import api as oauth
from .oauth import consent_page as consent
from .oauth import device_pages as devices
from .oidc import pages as provider
from .oidc.pages import only_with_provider
from .pages import account, closing, join, password, reset, sign_in
from .second_factor import confirm_page as confirm
from .second_factor import pages as second_factor
from .second_factor import sign_in_pages as second_step
from .tokens import api as token_api
from .tokens import new_token_pages as new_token
from .tokens import pages as tokens

_SIGN_IN = "/api/auth/sign-in"
_FACTORS = "/account/second-factor"


def _factor_page(
    method: str,
    path: str,
    handler: Handler,
    *,
    hashes: bool = False,
    step_up: StepUp = StepUp.NONE,
) -> Route:
    """A page to set up a second factor, also for people who must have one and have none yet."""
    return page(
        method, path, handler, Who.PERSON, hashes=hashes, without_factor=True, step_up=step_up
    )


API = (
    Route(
        "POST",
        _SIGN_IN,
        signing_in.post_sign_in,
        Who.ANYONE,
        auth=AuthMode.SIGN_IN,
        hashes=True,
    ),
    Route(
        "POST",
        _SIGN_IN + "/second-factor",
        signing_in.post_second_factor,
        Who.ANYONE,
        auth=AuthMode.SIGN_IN,
    ),
    Route(
        "POST",
        _SIGN_IN + "/passkey-options",
        signing_in.post_passkey_options,
        Who.ANYONE,
        auth=AuthMode.SIGN_IN,
    ),
    Route(
        "POST", _SIGN_IN + "/passkey", signing_in.post_passkey, Who.ANYONE, auth=AuthMode.SIGN_IN
    ),
    Route(
        "GET",
        "/api/auth/second-factor",
        signing_in.get_second_factor,
        Who.PERSON,
        without_factor=True,
    ),
    Route("POST", "/api/auth/sign-out", sessions.post_sign_out, Who.ANYONE, without_factor=True),
    Route(
        "POST",
        "/api/auth/register",
        sessions.post_register,
        Who.ANYONE,
        auth=AuthMode.SIGN_IN,
        hashes=True,
    ),
    Route("GET", "/api/auth/session", sessions.get_session, Who.SIGNED_IN, without_factor=True),
    Route(
        "POST",
        "/api/auth/password",
        sessions.post_password,
        Who.PERSON,
        hashes=True,
        step_up=StepUp.FACTOR,
    ),
    Route("GET", "/api/auth/sessions", sessions.get_sessions, Who.PERSON),
    Route("DELETE", "/api/auth/sessions/{id}", sessions.delete_session, Who.BROWSER),
    Route(
        "POST",
        "/api/account/close",
        sessions.post_close,
        Who.PERSON,
        hashes=True,
        step_up=StepUp.FACTOR,
    ),
    Route("GET", "/api/tokens", token_api.get_tokens, Who.PERSON),
    Route("POST", "/api/tokens", token_api.post_token, Who.PERSON, step_up=StepUp.FRESH),
    Route("POST", "/api/tokens/requests/{id}", token_api.post_token_request, Who.PERSON),
    Route("DELETE", "/api/tokens/{id}", token_api.delete_token, Who.PERSON),
)

OAUTH = (
    Route(
        "GET",
        "/.well-known/oauth-authorization-server",
        oauth.get_metadata,
        Who.ANYONE,
        auth=AuthMode.OAUTH,
    ),
    Route("POST", OAUTH_BASE + "/token", oauth.post_token, Who.ANYONE, auth=AuthMode.OAUTH),
    Route("GET", OAUTH_BASE + "/userinfo", oauth.get_userinfo, Who.ANYONE, auth=AuthMode.OAUTH),
    Route("POST", OAUTH_BASE + "/revoke", oauth.post_revoke, Who.ANYONE, auth=AuthMode.OAUTH_ASIDE),
    Route("POST", OAUTH_BASE + "/device", oauth.post_device, Who.ANYONE, auth=AuthMode.OAUTH_ASIDE),
    page(
        "GET", OAUTH_BASE + "/authorize", consent.get_authorize, Who.ANYONE, step_up=StepUp.FACTOR
    ),
    page(
        "POST", OAUTH_BASE + "/authorize", consent.post_authorize, Who.PERSON, step_up=StepUp.FACTOR
    ),
    page("GET", "/device", devices.get_device, Who.PERSON, step_up=StepUp.FACTOR),
    page("POST", "/device", devices.post_device, Who.PERSON, step_up=StepUp.FACTOR),
)

SIGN_IN_PAGES = (
    page("GET", "/sign-in", sign_in.get_sign_in, Who.ANYONE),
    page("POST", "/sign-in", sign_in.post_sign_in, Who.ANYONE, AuthMode.ENTRANCE, hashes=True),
    page(
        "GET", "/sign-in/second-factor", second_step.get_second_step, Who.ANYONE, AuthMode.ENTRANCE
    ),
    page(
        "POST",
        "/sign-in/second-factor",
        second_step.post_second_step,
        Who.ANYONE,
        AuthMode.ENTRANCE,
    ),
    page("GET", "/sign-in/passkey", second_step.get_passkey, Who.ANYONE, AuthMode.ENTRANCE),
    page("POST", "/sign-in/passkey", second_step.post_passkey, Who.ANYONE, AuthMode.ENTRANCE),
    page("POST", "/sign-out", sign_in.post_sign_out, Who.ANYONE, without_factor=True),
    page("GET", "/reset-password", reset.get_reset, Who.ANYONE, AuthMode.ENTRANCE),
    page("POST", "/reset-password", reset.post_reset, Who.ANYONE, AuthMode.ENTRANCE, hashes=True),
    page("GET", "/join", join.get_join, Who.ANYONE, AuthMode.ENTRANCE),
    page("POST", "/join", join.post_join, Who.ANYONE, AuthMode.ENTRANCE, hashes=True),
)

PROVIDER_PAGES = (
    page(
        "GET",
        "/api/auth/oidc",
        only_with_provider(provider.get_start),
        Who.ANYONE,
        AuthMode.ENTRANCE,
    ),
    page(
        "GET",
        "/api/auth/oidc/callback",
        only_with_provider(provider.get_callback),
        Who.ANYONE,
        without_factor=True,
        writes_on_get=True,
    ),
    page("GET", "/join/name", only_with_provider(provider.get_name), Who.ANYONE, AuthMode.ENTRANCE),
    page(
        "POST", "/join/name", only_with_provider(provider.post_name), Who.ANYONE, AuthMode.ENTRANCE
    ),
    page(
        "POST",
        "/account/connect",
        only_with_provider(provider.post_connect),
        Who.PERSON,
        step_up=StepUp.FRESH,
    ),
)

ACCOUNT_PAGES = (
    page("GET", "/account", account.get_account, Who.PERSON),
    page("POST", "/account", account.post_account, Who.PERSON),
    page("GET", "/account/password", password.get_password, Who.PERSON, step_up=StepUp.FACTOR),
    page(
        "POST",
        "/account/password",
        password.post_password,
        Who.PERSON,
        hashes=True,
        step_up=StepUp.FACTOR,
    ),
    page("GET", "/account/close", closing.get_close, Who.PERSON, step_up=StepUp.FACTOR),
    page(
        "POST", "/account/close", closing.post_close, Who.PERSON, hashes=True, step_up=StepUp.FACTOR
    ),
    page("GET", "/account/corner", account.get_corner, Who.ANYONE, without_factor=True),
    page("GET", "/account/token", tokens.get_token_request, Who.PERSON, step_up=StepUp.FRESH),
    page("POST", "/account/token", tokens.post_token_request, Who.PERSON, step_up=StepUp.FRESH),
    page("GET", "/account/tokens/new", new_token.get_new_token, Who.PERSON, step_up=StepUp.FRESH),
    page("POST", "/account/tokens/new", new_token.post_new_token, Who.PERSON, step_up=StepUp.FRESH),
)

SECOND_FACTOR_PAGES = (
    _factor_page("GET", "/account/confirm", confirm.get_confirm),
    _factor_page("POST", "/account/confirm", confirm.post_confirm, hashes=True),
    _factor_page("GET", _FACTORS, second_factor.get_factors),
    _factor_page(
        "GET", _FACTORS + "/new-passkey", second_factor.get_new_passkey, step_up=StepUp.FRESH
    ),
    _factor_page(
        "POST", _FACTORS + "/new-passkey", second_factor.post_new_passkey, step_up=StepUp.FRESH
    ),
    _factor_page(
        "POST", _FACTORS + "/passkeys/{id}", second_factor.post_passkey, step_up=StepUp.FRESH
    ),
    _factor_page("GET", _FACTORS + "/new-app", second_factor.get_new_app, step_up=StepUp.FRESH),
    _factor_page("POST", _FACTORS + "/new-app", second_factor.post_new_app, step_up=StepUp.FRESH),
    _factor_page(
        "POST", _FACTORS + "/remove-app", second_factor.post_remove_app, step_up=StepUp.FRESH
    ),
    _factor_page(
        "POST",
        _FACTORS + "/recovery-codes",
        second_factor.post_recovery_codes,
        step_up=StepUp.FRESH,
    ),
)

ROUTES = (
    *API,
    *OAUTH,
    *SIGN_IN_PAGES,
    *PROVIDER_PAGES,
    *ACCOUNT_PAGES,
    *SECOND_FACTOR_PAGES,
)
