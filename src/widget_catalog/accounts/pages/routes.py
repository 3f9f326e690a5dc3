"""Every page that depends on the user. Public ones are in `web/pages/public/`."""

from ...core.http.call import OAUTH_BASE
from ...core.http.routing import AuthMode, Handler, Route, Who
from ...organizations import invitation_pages as invitations
from ..oauth import consent_page as consent
from ..oauth import device_pages as devices
from ..oidc import pages as provider
from ..oidc.pages import only_with_provider
from ..second_factor import confirm_page as confirm
from ..second_factor import pages as second_factor
from ..second_factor import sign_in_pages as second_step
from ..second_factor.rules import StepUp
from ..tokens import new_token_pages as new_token
from ..tokens import pages as tokens
from . import account, closing, join, password, reset, sign_in

_FACTORS = "/account/second-factor"


def _page(
    method: str,
    path: str,
    handler: Handler,
    needs: Who,
    auth: AuthMode = AuthMode.PAGE,
    *,
    hashes: bool = False,
    without_factor: bool = False,
    writes_on_get: bool = False,
    step_up: StepUp = StepUp.NONE,
) -> Route:
    marks = {
        "hashes": hashes,
        "without_factor": without_factor,
        "writes_on_get": writes_on_get,
    }
    return Route(method, path, handler, needs, auth=auth, step_up=step_up, **marks)


def _factor_page(
    method: str,
    path: str,
    handler: Handler,
    *,
    hashes: bool = False,
    step_up: StepUp = StepUp.NONE,
) -> Route:
    """A page to set up a second factor, also for people who must have one and have none yet."""
    return _page(
        method, path, handler, Who.PERSON, hashes=hashes, without_factor=True, step_up=step_up
    )


SIGN_IN = (
    _page("GET", "/sign-in", sign_in.get_sign_in, Who.ANYONE),
    _page("POST", "/sign-in", sign_in.post_sign_in, Who.ANYONE, AuthMode.ENTRANCE, hashes=True),
    _page(
        "GET", "/sign-in/second-factor", second_step.get_second_step, Who.ANYONE, AuthMode.ENTRANCE
    ),
    _page(
        "POST",
        "/sign-in/second-factor",
        second_step.post_second_step,
        Who.ANYONE,
        AuthMode.ENTRANCE,
    ),
    _page("GET", "/sign-in/passkey", second_step.get_passkey, Who.ANYONE, AuthMode.ENTRANCE),
    _page("POST", "/sign-in/passkey", second_step.post_passkey, Who.ANYONE, AuthMode.ENTRANCE),
    _page("POST", "/sign-out", sign_in.post_sign_out, Who.ANYONE, without_factor=True),
    _page("GET", "/reset-password", reset.get_reset, Who.ANYONE, AuthMode.ENTRANCE),
    _page("POST", "/reset-password", reset.post_reset, Who.ANYONE, AuthMode.ENTRANCE, hashes=True),
    _page("GET", "/join", join.get_join, Who.ANYONE, AuthMode.ENTRANCE),
    _page("POST", "/join", join.post_join, Who.ANYONE, AuthMode.ENTRANCE, hashes=True),
)

PROVIDER = (
    _page(
        "GET",
        "/api/auth/oidc",
        only_with_provider(provider.get_start),
        Who.ANYONE,
        AuthMode.ENTRANCE,
    ),
    _page(
        "GET",
        "/api/auth/oidc/callback",
        only_with_provider(provider.get_callback),
        Who.ANYONE,
        without_factor=True,
        writes_on_get=True,
    ),
    _page(
        "GET", "/join/name", only_with_provider(provider.get_name), Who.ANYONE, AuthMode.ENTRANCE
    ),
    _page(
        "POST", "/join/name", only_with_provider(provider.post_name), Who.ANYONE, AuthMode.ENTRANCE
    ),
    _page(
        "POST",
        "/account/connect",
        only_with_provider(provider.post_connect),
        Who.PERSON,
        step_up=StepUp.FRESH,
    ),
)

ACCOUNT = (
    _page("GET", "/account", account.get_account, Who.PERSON),
    _page("POST", "/account", account.post_account, Who.PERSON),
    _page("GET", "/account/password", password.get_password, Who.PERSON, step_up=StepUp.FACTOR),
    _page(
        "POST",
        "/account/password",
        password.post_password,
        Who.PERSON,
        hashes=True,
        step_up=StepUp.FACTOR,
    ),
    _page("GET", "/account/close", closing.get_close, Who.PERSON, step_up=StepUp.FACTOR),
    _page(
        "POST", "/account/close", closing.post_close, Who.PERSON, hashes=True, step_up=StepUp.FACTOR
    ),
    _page("GET", "/account/corner", account.get_corner, Who.ANYONE, without_factor=True),
    _page("GET", "/account/token", tokens.get_token_request, Who.PERSON, step_up=StepUp.FRESH),
    _page("POST", "/account/token", tokens.post_token_request, Who.PERSON, step_up=StepUp.FRESH),
    _page("GET", "/account/tokens/new", new_token.get_new_token, Who.PERSON, step_up=StepUp.FRESH),
    _page(
        "POST", "/account/tokens/new", new_token.post_new_token, Who.PERSON, step_up=StepUp.FRESH
    ),
    _page("GET", "/invitation", invitations.get_invitation, Who.ANYONE),
    _page("POST", "/invitation", invitations.post_invitation, Who.PERSON),
)

SECOND_FACTOR = (
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

CONSENT = (
    _page(
        "GET", OAUTH_BASE + "/authorize", consent.get_authorize, Who.ANYONE, step_up=StepUp.FACTOR
    ),
    _page(
        "POST", OAUTH_BASE + "/authorize", consent.post_authorize, Who.PERSON, step_up=StepUp.FACTOR
    ),
    _page("GET", "/device", devices.get_device, Who.PERSON, step_up=StepUp.FACTOR),
    _page("POST", "/device", devices.post_device, Who.PERSON, step_up=StepUp.FACTOR),
)

ACCOUNT_PAGES = (*SIGN_IN, *PROVIDER, *ACCOUNT, *SECOND_FACTOR, *CONSENT)
