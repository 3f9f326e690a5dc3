"""The pages to sign in and out with a password."""

from collections.abc import Sequence

from ...accounts.services import AccountServices
from ...core.errors import AccountLocked, NotSignedIn, TooOften
from ...core.http.call import Call
from ...core.http.dispatcher import refuse_other_sites
from ...core.http.errors import headers_of, status_of
from ...core.http.http import Response
from ...core.http.rendering import Header, local_path
from ...core.http.services import Services
from ..second_factor.signing_in import half_signed_in
from ..session_api import forget_cookie, session_cookie
from ..settings import AccountSettings
from ..sign_in import FactorNeeded, SignedIn, sign_out
from ..sign_in_api import keep_half, sign_in_by_password

HOME = "/account"


def get_sign_in(services: Services, call: Call) -> Response:
    next_ = local_path(call.query().get("next", ""))
    if call.is_signed_in:
        return services.renderer.redirect(next_ or HOME, status=302)
    return sign_in_form(services, next_ or "")


def post_sign_in(services: Services, call: Call) -> Response:
    refuse_other_sites(services, call)
    form = call.form()
    username, next_ = form.get("username", "").strip(), local_path(form.get("next", ""))
    code = form.get("code", "").strip()
    try:
        came = sign_in_by_password(services, call, username, form.get("password", ""), code)
    except (NotSignedIn, TooOften) as fault:
        return sign_in_form(
            services,
            next_ or "",
            username,
            [fault.message],
            *headers_of(fault),
            status=400 if isinstance(fault, NotSignedIn) else status_of(fault),
            asks_code=bool(code) or isinstance(fault, AccountLocked),
        )
    if isinstance(came, FactorNeeded):
        kept = keep_half(services, half_signed_in(services.store, came))
        return services.renderer.go_first("/sign-in/second-factor", next_ or "", kept, status=303)
    return welcome(services, came, next_)


def post_sign_out(services: Services, call: Call) -> Response:
    if call.is_signed_in:
        sign_out(services.store, call.visitor)
    next_ = local_path(call.form().get("next", ""))
    return services.renderer.redirect(next_ or "/", forget_cookie(services))


def welcome(
    services: Services, signed_in: SignedIn, next_: str | None, *headers: Header
) -> Response:
    """After signing in: redirect to the original target."""
    cookie = session_cookie(services, signed_in.secret)
    return services.renderer.redirect(next_ or HOME, cookie, *headers)


def sign_in_form(
    services: Services,
    next_: str,
    username: str = "",
    faults: Sequence[str] = (),
    *headers: Header,
    status: int = 200,
    asks_code: bool = False,
) -> Response:
    """`asks_code`: the account is locked for the password alone."""
    return services.renderer.page(
        "accounts/sign_in.html",
        *headers,
        status=status,
        next=next_,
        username=username,
        faults=faults,
        asks_code=asks_code,
        has_passkeys=services.of(AccountServices).factor_policy.site.passkey_fault is None,
        can_register=services.settings.of(AccountSettings).registration == "open",
        provider=services.of(AccountServices).provider_name,
    )
