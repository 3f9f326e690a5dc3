"""Every route of accounts: the internal API, OAuth, and the pages."""

from functools import partial

from ..core.http.call import OAUTH_BASE, Call
from ..core.http.csrf import refuse_other_sites
from ..core.http.http import Response
from ..core.http.routing import AuthMode, Route, StepUp, Who, page
from ..core.http.services import Services
from . import endpoints as account
from . import sign_in_endpoints as sign_in
from .oauth import endpoints as oauth
from .oidc import pages as oidc
from .second_factor import pages as factors
from .tokens import endpoints as tokens

_SIGN_IN = "/api/auth/sign-in"
_PROVIDER = "/api/auth/oidc"
_FACTORS = "/account/second-factor"
_METADATA = "/.well-known/oauth-authorization-server"

_sign_in = partial(Route, needs=Who.ANYONE, auth=AuthMode.SIGN_IN)
_oauth = partial(Route, needs=Who.ANYONE, auth=AuthMode.OAUTH)
_anonymous_page = partial(page, needs=Who.ANYONE, auth=AuthMode.ANONYMOUS_PAGE)
_person = partial(Route, needs=Who.PERSON)
_own_page = partial(page, needs=Who.PERSON)
_factor_page = partial(page, needs=Who.PERSON, step_up=StepUp.FACTOR)
_fresh_page = partial(page, needs=Who.PERSON, step_up=StepUp.FRESH)
# To set up a second factor, also for people who must have one and have none yet.
_set_up = partial(page, needs=Who.PERSON, without_factor=True)
_fresh_set_up = partial(page, needs=Who.PERSON, without_factor=True, step_up=StepUp.FRESH)


def _same_origin(route: Route) -> Route:
    """Where nobody is known, there is no CSRF token: the origin shows whether a form is ours."""
    if route.method != "POST" or route.auth not in (AuthMode.SIGN_IN, AuthMode.ANONYMOUS_PAGE):
        return route

    def handle(services: Services, call: Call) -> Response:
        refuse_other_sites(services.settings, call.request)
        return route.handler(services, call)

    return route._replace(handler=handle)


def _with_provider(route: Route) -> Route:
    """Without a configured provider, its routes do not exist."""

    def handle(services: Services, call: Call) -> Response:
        oidc.provider_of(services)
        return route.handler(services, call)

    return route._replace(handler=handle)


API = (
    _sign_in("POST", _SIGN_IN, sign_in.post_sign_in, hashes=True),
    _sign_in("POST", _SIGN_IN + "/second-factor", sign_in.post_second_factor),
    _sign_in("POST", _SIGN_IN + "/passkey-options", sign_in.post_passkey_options),
    _sign_in("POST", _SIGN_IN + "/passkey", sign_in.post_passkey),
    _person("GET", "/api/auth/second-factor", account.get_second_factor, without_factor=True),
    Route("POST", "/api/auth/sign-out", sign_in.post_sign_out, Who.ANYONE, without_factor=True),
    _sign_in("POST", "/api/auth/register", account.post_register, hashes=True),
    Route("GET", "/api/auth/session", account.get_session, Who.SIGNED_IN, without_factor=True),
    _person(
        "POST", "/api/auth/password", account.post_password, hashes=True, step_up=StepUp.FACTOR
    ),
    _person("GET", "/api/auth/sessions", account.get_sessions),
    Route("DELETE", "/api/auth/sessions/{id}", account.delete_session, Who.BROWSER),
    _person("POST", "/api/account/close", account.post_close, hashes=True, step_up=StepUp.FACTOR),
    _person("GET", "/api/tokens", tokens.get_tokens),
    Route("POST", "/api/tokens", tokens.post_token, Who.BROWSER, step_up=StepUp.FRESH),
    _person("POST", "/api/tokens/device", oauth.post_token_request),
    _person("DELETE", "/api/tokens/{id}", tokens.delete_token),
)

OAUTH = (
    _oauth("GET", _METADATA, oauth.get_metadata),
    _oauth("POST", OAUTH_BASE + "/token", oauth.post_token),
    _oauth("GET", OAUTH_BASE + "/userinfo", oauth.get_userinfo),
    _oauth("POST", OAUTH_BASE + "/revoke", oauth.post_revoke),
    _oauth("POST", OAUTH_BASE + "/device", oauth.post_device_start),
    page("GET", OAUTH_BASE + "/authorize", oauth.get_authorize, Who.ANYONE, step_up=StepUp.FACTOR),
    _factor_page("POST", OAUTH_BASE + "/authorize", oauth.post_authorize),
    _factor_page("GET", "/device", oauth.get_device),
    _factor_page("POST", "/device", oauth.post_device),
)

SIGN_IN_PAGES = (
    page("GET", "/sign-in", sign_in.get_sign_in, Who.ANYONE),
    _anonymous_page("POST", "/sign-in", sign_in.post_sign_in_form, hashes=True),
    _anonymous_page("GET", "/sign-in/second-factor", sign_in.get_second_step),
    _anonymous_page("POST", "/sign-in/second-factor", sign_in.post_second_step),
    _anonymous_page("GET", "/sign-in/passkey", sign_in.get_passkey_page),
    _anonymous_page("POST", "/sign-in/passkey", sign_in.post_passkey_form),
    page("POST", "/sign-out", sign_in.post_sign_out_form, Who.ANYONE, without_factor=True),
    _anonymous_page("GET", "/reset-password", account.get_reset),
    _anonymous_page("POST", "/reset-password", account.post_reset, hashes=True),
    _anonymous_page("GET", "/join", account.get_join),
    _anonymous_page("POST", "/join", account.post_join, hashes=True),
)

PROVIDER_PAGES = (
    _anonymous_page("GET", _PROVIDER, oidc.get_start),
    page(
        "GET",
        _PROVIDER + "/callback",
        oidc.get_callback,
        Who.ANYONE,
        without_factor=True,
        writes_on_get=True,
    ),
    _anonymous_page("GET", "/join/name", oidc.get_name),
    _anonymous_page("POST", "/join/name", oidc.post_name),
    _fresh_page("POST", "/account/connect", oidc.post_connect),
)

ACCOUNT_PAGES = (
    _own_page("GET", "/account", account.get_account),
    _own_page("POST", "/account", account.post_account),
    _factor_page("GET", "/account/password", account.get_password),
    _factor_page("POST", "/account/password", account.post_password_form, hashes=True),
    _factor_page("GET", "/account/close", account.get_close),
    _factor_page("POST", "/account/close", account.post_close_form, hashes=True),
    page("GET", "/account/corner", account.get_corner, Who.ANYONE, without_factor=True),
    _fresh_page("GET", "/account/tokens/new", tokens.get_new_token),
    _fresh_page("POST", "/account/tokens/new", tokens.post_new_token),
)

SECOND_FACTOR_PAGES = (
    _set_up("GET", "/account/confirm", factors.get_confirm),
    _set_up("POST", "/account/confirm", factors.post_confirm, hashes=True),
    _set_up("GET", _FACTORS, factors.get_factors),
    _fresh_set_up("GET", _FACTORS + "/new-passkey", factors.get_new_passkey),
    _fresh_set_up("POST", _FACTORS + "/new-passkey", factors.post_new_passkey),
    _fresh_set_up("POST", _FACTORS + "/passkeys/{id}", factors.post_passkey),
    _fresh_set_up("GET", _FACTORS + "/new-app", factors.get_new_app),
    _fresh_set_up("POST", _FACTORS + "/new-app", factors.post_new_app),
    _fresh_set_up("POST", _FACTORS + "/remove-app", factors.post_remove_app),
    _fresh_set_up("POST", _FACTORS + "/recovery-codes", factors.post_recovery_codes),
)

ROUTES = (
    *map(_same_origin, (*API, *OAUTH, *SIGN_IN_PAGES, *ACCOUNT_PAGES, *SECOND_FACTOR_PAGES)),
    *(_with_provider(_same_origin(route)) for route in PROVIDER_PAGES),
)
