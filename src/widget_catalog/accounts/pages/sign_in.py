"""Pages for people who are not signed in yet: with a password, the second factor, or a passkey
instead of both; registration, by invitation or open to anyone; a new password, by a reset link.
"""

from collections.abc import Mapping

from widget_contract.errors import CatalogError

from ...core import errors
from ...core.errors import InvalidAccount, InvalidRequest, NotAllowed, NotSignedIn, TooOften
from ...core.http.call import COOKIE, Call
from ...core.http.cookies import delete_cookie
from ...core.http.errors import status_of
from ...core.http.http import Response
from ...core.http.rendering import Header, local_path
from ...core.http.services import Services
from .. import api
from ..administer_account import check_reset_link, use_reset_link
from ..create_account import OPERATOR, Registration, check_may_register
from ..second_factor.pages import credential_in
from ..second_factor.signing_in import Given, asked_again, half_signed_in, ways_of
from ..services import AccountServices
from ..sign_in import FactorNeeded, SignedIn, sign_out
from .own_page import form_page

_HOME = "/account"


def _given(call: Call) -> Mapping[str, str]:
    """The fields of the form; of the query, if the page is shown for the first time."""
    return call.form() if call.request.method == "POST" else call.query()


def _next(call: Call) -> str:
    """The original target of the person; empty if there is none, or it is on another site."""
    return local_path(_given(call).get("next", "")) or ""


def _status(error: CatalogError | None) -> int:
    """The form itself reports a failed sign-in."""
    if error is None:
        return 200
    return 400 if isinstance(error, NotSignedIn) else status_of(error)


def get_sign_in(services: Services, call: Call) -> Response:
    if call.is_signed_in:
        return services.renderer.redirect(_next(call) or _HOME, status=302)
    return _sign_in_form(services, call)


def post_sign_in(services: Services, call: Call) -> Response:
    form = call.form()
    username, password = form.get("username", "").strip(), form.get("password", "")
    code = form.get("code", "").strip()
    try:
        came = api.sign_in_by_password(services, call, username, password, code)
    except (NotSignedIn, TooOften) as error:
        asks_code = bool(code) or isinstance(error, errors.AccountLocked)
        return _sign_in_form(services, call, username, error=error, asks_code=asks_code)
    if isinstance(came, FactorNeeded):
        kept = api.keep_half(services, half_signed_in(services.store, came))
        return services.renderer.go_first("/sign-in/second-factor", _next(call), kept, status=303)
    return welcome(services, came, _next(call))


def post_sign_out(services: Services, call: Call) -> Response:
    if call.is_signed_in:
        sign_out(services.store, call.visitor)
    return services.renderer.redirect(_next(call) or "/", delete_cookie(services, COOKIE))


def welcome(services: Services, signed_in: SignedIn, next_: str, *headers: Header) -> Response:
    """After signing in: redirect to the original target."""
    cookie = api.session_cookie(services, signed_in.secret)
    return services.renderer.redirect(next_ or _HOME, cookie, *headers)


def _sign_in_form(
    services: Services,
    call: Call,
    username: str = "",
    *headers: Header,
    error: CatalogError | None = None,
    asks_code: bool = False,
) -> Response:
    """`asks_code`: the account is locked for the password alone."""
    ours = services.of(AccountServices)
    shown = {
        "status": _status(error),
        "next": _next(call),
        "username": username,
        "asks_code": asks_code,
        "has_passkeys": ours.factor_policy.site.passkey_error is None,
        "can_register": ours.is_open,
        "provider": ours.provider_name,
    }
    return form_page(services, "accounts/sign_in.html", *headers, error=error, **shown)


def get_second_step(services: Services, call: Call, error: CatalogError | None = None) -> Response:
    """After the time limit, the sign-in starts again with the password."""
    policy = services.of(AccountServices).factor_policy
    try:
        half = asked_again(api.get_half(services, call))
        ways = ways_of(services.store, policy, half)
    except NotSignedIn as late:
        gone = delete_cookie(services, api.HALF_COOKIE)
        return _sign_in_form(services, call, "", gone, error=late)
    shown = {
        "status": _status(error),
        "has_script": ways.passkey_options is not None,
        "ways": ways,
        "next": _next(call),
        "origin": policy.site.origin,
    }
    kept = api.keep_half(services, half)
    return form_page(services, "accounts/second_step.html", kept, error=error, **shown)


def post_second_step(services: Services, call: Call) -> Response:
    form = call.form()
    try:
        given = Given(form.get("code", "").strip(), credential_in(form))
        signed_in = api.finish(services, call, given)
    except (NotSignedIn, InvalidRequest, TooOften) as error:
        return get_second_step(services, call, error)
    return welcome(services, signed_in, _next(call), delete_cookie(services, api.HALF_COOKIE))


def get_passkey(services: Services, call: Call, error: CatalogError | None = None) -> Response:
    options, cookie = api.ask_for_passkey(services)
    shown = {
        "status": _status(error),
        "has_script": True,
        "options": options,
        "origin": services.of(AccountServices).factor_policy.site.origin,
        "next": _next(call),
    }
    return form_page(services, "accounts/sign_in_passkey.html", cookie, error=error, **shown)


def post_passkey(services: Services, call: Call) -> Response:
    try:
        signed_in = api.sign_in_by_passkey(services, call, credential_in(call.form()) or {})
    except (NotSignedIn, TooOften) as error:
        return get_passkey(services, call, error)
    return welcome(services, signed_in, _next(call), delete_cookie(services, api.PASSKEY_COOKIE))


def get_join(services: Services, call: Call, error: CatalogError | None = None) -> Response:
    given, is_open = _given(call), services.of(AccountServices).is_open
    secret = given.get("invitation", "")
    try:
        invitation = check_may_register(services.store, secret, is_open=is_open)
    except NotAllowed as refusal:
        return _refused(services, secret, refusal)
    typed = given if call.request.method == "POST" else {}
    invited = invitation.email if invitation is not None else None
    shown = {
        "invitation": secret,
        "next": _next(call),
        "username": typed.get("username", ""),
        "email": typed.get("email", invited or ""),
        "is_operator": invitation is not None and invitation.role == OPERATOR,
    }
    return form_page(services, "accounts/join.html", error=error, **shown)


def post_join(services: Services, call: Call) -> Response:
    form = call.form()
    name, email = form.get("username", "").strip(), form.get("email", "").strip()
    secret = form.get("invitation", "")
    try:
        given = Registration(name, email, form.get("password", ""), secret)
        signed_in = api.register_by(services, call, given)
    except (InvalidAccount, errors.Conflict) as error:
        return get_join(services, call, error)
    except NotAllowed as refusal:
        return _refused(services, secret, refusal)
    return welcome(services, signed_in, _next(call))


def _refused(services: Services, secret: str, refusal: NotAllowed) -> Response:
    title = "Invitation not valid" if secret else "Invitation required"
    return services.renderer.message(status_of(refusal), title, refusal.message)


def get_reset(services: Services, call: Call, error: CatalogError | None = None) -> Response:
    link, template = _given(call).get("link", ""), "accounts/reset_password.html"
    name = check_reset_link(services.store, services.signing_key, link).username
    return form_page(services, template, error=error, link=link, username=name)


def post_reset(services: Services, call: Call) -> Response:
    form = call.form()
    link, new = form.get("link", ""), form.get("password", "")
    try:
        use_reset_link(services.store, services.signing_key, link, new, call.address)
    except InvalidAccount as error:
        return get_reset(services, call, error)
    return services.renderer.redirect("/sign-in?next=/account")
