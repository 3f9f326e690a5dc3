"""Pages for people who are not signed in yet: with a password, the second factor, or a passkey
instead of both; registration, by invitation or open to anyone; a new password, by a reset link.
"""

from collections.abc import Mapping

from widget_contract.errors import CatalogError

from ...core.errors import (
    AccountLocked,
    Conflict,
    InvalidAccount,
    InvalidRequest,
    NotAllowed,
    NotSignedIn,
    TooOften,
)
from ...core.http.call import COOKIE, Call
from ...core.http.cookies import delete_cookie
from ...core.http.errors import status_of
from ...core.http.http import Response
from ...core.http.rendering import Header, local_path
from ...core.http.services import Services
from ..administer_account import check_reset_link, use_reset_link
from ..api import (
    HALF_COOKIE,
    PASSKEY_COOKIE,
    ask_for_passkey,
    finish,
    get_half,
    keep_half,
    register_by,
    session_cookie,
    sign_in_by_passkey,
    sign_in_by_password,
)
from ..create_account import OPERATOR, Registration, check_may_register
from ..second_factor.pages import credential_in
from ..second_factor.signing_in import Given, asked_again, half_signed_in, ways_of
from ..services import AccountServices
from ..sign_in import FactorNeeded, SignedIn, sign_out
from .own_page import form_page

_HOME = "/account"


def _next(fields: Mapping[str, str]) -> str:
    """The original target of the person; empty if there is none, or it is on another site."""
    return local_path(fields.get("next", "")) or ""


def _shown_status(error: CatalogError | None) -> int:
    """The form itself reports a failed sign-in."""
    if error is None:
        return 200
    return 400 if isinstance(error, NotSignedIn) else status_of(error)


def get_sign_in(services: Services, call: Call) -> Response:
    next_ = _next(call.query())
    if call.is_signed_in:
        return services.renderer.redirect(next_ or _HOME, status=302)
    return _sign_in_form(services, next_)


def post_sign_in(services: Services, call: Call) -> Response:
    form = call.form()
    username, password = form.get("username", "").strip(), form.get("password", "")
    next_, code = _next(form), form.get("code", "").strip()
    try:
        came = sign_in_by_password(services, call, username, password, code)
    except (NotSignedIn, TooOften) as error:
        asks_code = bool(code) or isinstance(error, AccountLocked)
        return _sign_in_form(services, next_, username, error=error, asks_code=asks_code)
    if isinstance(came, FactorNeeded):
        kept = keep_half(services, half_signed_in(services.store, came))
        return services.renderer.go_first("/sign-in/second-factor", next_, kept, status=303)
    return welcome(services, came, next_)


def post_sign_out(services: Services, call: Call) -> Response:
    if call.is_signed_in:
        sign_out(services.store, call.visitor)
    return services.renderer.redirect(_next(call.form()) or "/", delete_cookie(services, COOKIE))


def welcome(services: Services, signed_in: SignedIn, next_: str, *headers: Header) -> Response:
    """After signing in: redirect to the original target."""
    cookie = session_cookie(services, signed_in.secret)
    return services.renderer.redirect(next_ or _HOME, cookie, *headers)


def _sign_in_form(
    services: Services,
    next_: str,
    username: str = "",
    *headers: Header,
    error: CatalogError | None = None,
    asks_code: bool = False,
) -> Response:
    """`asks_code`: the account is locked for the password alone."""
    ours = services.of(AccountServices)
    return form_page(
        services,
        "accounts/sign_in.html",
        *headers,
        error=error,
        status=_shown_status(error),
        next=next_,
        username=username,
        asks_code=asks_code,
        has_passkeys=ours.factor_policy.site.passkey_error is None,
        can_register=ours.is_open,
        provider=ours.provider_name,
    )


def get_second_step(services: Services, call: Call) -> Response:
    return _ask_for_factor(services, call, _next(call.query()))


def post_second_step(services: Services, call: Call) -> Response:
    form = call.form()
    next_ = _next(form)
    try:
        given = Given(form.get("code", "").strip(), credential_in(form))
        signed_in = finish(services, call, given)
    except (NotSignedIn, InvalidRequest, TooOften) as error:
        return _ask_for_factor(services, call, next_, error)
    return welcome(services, signed_in, next_, delete_cookie(services, HALF_COOKIE))


def _ask_for_factor(
    services: Services, call: Call, next_: str, error: CatalogError | None = None
) -> Response:
    """The page again; after the time limit, the sign-in starts again with the password."""
    policy = services.of(AccountServices).factor_policy
    try:
        half = asked_again(get_half(services, call))
        ways = ways_of(services.store, policy, half)
    except NotSignedIn as late:
        gone = delete_cookie(services, HALF_COOKIE)
        return _sign_in_form(services, next_, "", gone, error=late)
    return form_page(
        services,
        "accounts/second_step.html",
        keep_half(services, half),
        error=error,
        status=_shown_status(error),
        has_script=ways.passkey_options is not None,
        ways=ways,
        next=next_,
        origin=policy.site.origin,
    )


def get_passkey(services: Services, call: Call) -> Response:
    return _ask_for_passkey(services, _next(call.query()))


def post_passkey(services: Services, call: Call) -> Response:
    form = call.form()
    next_ = _next(form)
    try:
        signed_in = sign_in_by_passkey(services, call, credential_in(form) or {})
    except (NotSignedIn, TooOften) as error:
        return _ask_for_passkey(services, next_, error)
    return welcome(services, signed_in, next_, delete_cookie(services, PASSKEY_COOKIE))


def _ask_for_passkey(services: Services, next_: str, error: CatalogError | None = None) -> Response:
    options, cookie = ask_for_passkey(services)
    return form_page(
        services,
        "accounts/sign_in_passkey.html",
        cookie,
        error=error,
        status=_shown_status(error),
        has_script=True,
        options=options,
        origin=services.of(AccountServices).factor_policy.site.origin,
        next=next_,
    )


def get_join(services: Services, call: Call) -> Response:
    return _join_form(services, call.query(), {})


def post_join(services: Services, call: Call) -> Response:
    form = call.form()
    name, email = form.get("username", "").strip(), form.get("email", "").strip()
    secret = form.get("invitation", "")
    try:
        given = Registration(name, email, form.get("password", ""), secret)
        signed_in = register_by(services, call, given)
    except (InvalidAccount, Conflict) as error:
        return _join_form(services, form, form, error)
    except NotAllowed as refusal:
        return _refused(services, secret, refusal)
    return welcome(services, signed_in, _next(form))


def _join_form(
    services: Services,
    given: Mapping[str, str],
    typed: Mapping[str, str],
    error: CatalogError | None = None,
) -> Response:
    secret, is_open = given.get("invitation", ""), services.of(AccountServices).is_open
    try:
        invitation = check_may_register(services.store, secret, is_open=is_open)
    except NotAllowed as refusal:
        return _refused(services, secret, refusal)
    invited = invitation.email if invitation is not None else None
    return form_page(
        services,
        "accounts/join.html",
        error=error,
        invitation=secret,
        next=_next(given),
        username=typed.get("username", ""),
        email=typed.get("email", invited or ""),
        is_operator=invitation is not None and invitation.role == OPERATOR,
    )


def _refused(services: Services, secret: str, refusal: NotAllowed) -> Response:
    title = "Invitation not valid" if secret else "Invitation required"
    return services.renderer.message(status_of(refusal), title, refusal.message)


def get_reset(services: Services, call: Call) -> Response:
    return _reset_form(services, call.query().get("link", ""))


def post_reset(services: Services, call: Call) -> Response:
    form = call.form()
    link, new = form.get("link", ""), form.get("password", "")
    try:
        use_reset_link(services.store, services.signing_key, link, new, call.address)
    except InvalidAccount as error:
        return _reset_form(services, link, error)
    return services.renderer.redirect("/sign-in?next=/account")


def _reset_form(services: Services, link: str, error: CatalogError | None = None) -> Response:
    account = check_reset_link(services.store, services.signing_key, link)
    template, name = "accounts/reset_password.html", account.username
    return form_page(services, template, error=error, link=link, username=name)
