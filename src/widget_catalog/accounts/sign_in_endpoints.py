"""Handlers that sign in and out, over the API and on pages: with a password, the second factor, or
a passkey instead of both. What both do is in one function.
"""

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from widget_contract.errors import CatalogError

from ..core.clock import from_ms, iso
from ..core.errors import AccountLocked, InvalidRequest, NotSignedIn, TooOften
from ..core.http.call import Call, csrf_token
from ..core.http.cookies import COOKIE, cookie_attributes
from ..core.http.errors import status_of
from ..core.http.http import Response
from ..core.http.rendering import Header, local_path
from ..core.http.replies import done, reply
from ..core.http.sent_form import SentForm, form_page
from ..core.http.services import Services
from ..core.http.signed_cookies import (
    delete_cookie,
    find_signed,
    set_signed,
)
from .second_factor import signing_in as second_factor
from .second_factor.pages import credential_in
from .second_factor.passkeys import new_challenge, request_options
from .second_factor.signing_in import Given, HalfSignedIn, PasskeyAsked, Ways
from .services import AccountServices, browser_of
from .sign_in import FactorNeeded, SignInResult, sign_in, sign_out

_HOME = "/account"
_HALF_COOKIE = "half-signed-in"
_PASSKEY_COOKIE = "passkey-asked"
_PASSKEY_ASKED_S = 900
_BEGIN_AGAIN = "This sign-in has expired, or cookies are blocked. Start again with the password."


class SignInBody(msgspec.Struct):
    username: str
    password: str
    code: str = ""


class PasskeyBody(msgspec.Struct):
    passkey: dict[str, Any]


def given_in(call: Call) -> Mapping[str, str]:
    """The fields of the form; of the query, if the page is shown for the first time."""
    return call.form() if call.request.method == "POST" else call.query()


def next_of(call: Call) -> str:
    """The original target of the person; empty if there is none, or it is on another site."""
    return local_path(given_in(call).get("next", "")) or ""


def _status(error: CatalogError | None) -> int:
    """The form itself reports a failed sign-in."""
    if error is None:
        return 200
    return 400 if isinstance(error, NotSignedIn) else status_of(error)


def _session_cookie(services: Services, secret: str) -> Header:
    seconds = services.of(AccountServices).lifetimes.most_ms // 1000
    attributes = cookie_attributes(services.settings.public_url)
    return ("set-cookie", f"{COOKIE}={secret}; Max-Age={seconds}{attributes}")


def reply_signed_in(
    services: Services, signed_in: SignInResult, *headers: Header, status: int = 200
) -> Response:
    """The response to a successful sign-in: the session and its cookie."""
    account = signed_in.account
    shown = {
        "username": account.username,
        "email": account.email,
        "isOperator": account.is_operator,
        "via": "session",
        "csrfToken": csrf_token(signed_in.secret),
        "expiresAt": iso(from_ms(signed_in.session.expires_at)),
    }
    return reply(shown, _session_cookie(services, signed_in.secret), *headers, status=status)


def welcome(services: Services, signed_in: SignInResult, next_: str, *headers: Header) -> Response:
    """After signing in: redirect to the original target."""
    cookie = _session_cookie(services, signed_in.secret)
    return services.renderer.redirect(next_ or _HOME, cookie, *headers)


def _sign_in_by_password(
    services: Services, call: Call, given: SignInBody
) -> SignInResult | FactorNeeded:
    """With the password alone, or at once with a code."""
    who, code = (given.username, given.password), given.code.strip()
    browser = browser_of(services, call)
    if not code:
        return sign_in(services.store, *who, browser)
    policy = services.of(AccountServices).factor_policy
    return second_factor.sign_in_at_once(services.store, policy, *who, code, browser)


def post_sign_in(services: Services, call: Call) -> Response:
    came = _sign_in_by_password(services, call, call.json(SignInBody))
    if isinstance(came, FactorNeeded):
        return _half_way(services, came)
    return reply_signed_in(services, came)


def _half_way(services: Services, needed: FactorNeeded) -> Response:
    """The password was right: which second factors are possible, and how to send them."""
    half = second_factor.half_signed_in(services.store, needed)
    ways = second_factor.ways_of(services.store, services.of(AccountServices).factor_policy, half)
    shown = {
        "ways": _names_of(ways),
        "passkeyOptions": json.loads(ways.passkey_options) if ways.passkey_options else None,
        "expiresAt": iso(from_ms(half.ends_at)),
    }
    return reply({"secondFactor": shown}, _keep_half(services, half), status=202)


def _names_of(ways: Ways) -> list[str]:
    named = {
        "passkey": ways.passkey_options is not None,
        "authenticator app": ways.has_app,
        "recovery code": ways.has_recovery_codes,
    }
    return [name for name, is_there in named.items() if is_there]


def get_sign_in(services: Services, call: Call) -> Response:
    if call.is_signed_in:
        return services.renderer.redirect(next_of(call) or _HOME, status=302)
    return _sign_in_form(services, call)


def post_sign_in_form(services: Services, call: Call) -> Response:
    form = call.form()
    username, code = form.get("username", "").strip(), form.get("code", "")
    try:
        given = SignInBody(username, form.get("password", ""), code)
        came = _sign_in_by_password(services, call, given)
    except (NotSignedIn, TooOften) as error:
        asks_code = bool(code.strip()) or isinstance(error, AccountLocked)
        return _sign_in_form(services, call, username, error=error, asks_code=asks_code)
    if isinstance(came, FactorNeeded):
        kept = _keep_half(services, second_factor.half_signed_in(services.store, came))
        return services.renderer.go_first("/sign-in/second-factor", next_of(call), kept, status=303)
    return welcome(services, came, next_of(call))


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
        "next": next_of(call),
        "asks_code": asks_code,
        "has_passkeys": ours.factor_policy.site.passkey_error is None,
        "can_register": ours.is_open,
        "provider": ours.provider_name,
    }
    # Which of them was wrong is not said.
    at = {"": "code" if asks_code else "password"} if username else {}
    sent = SentForm("", {"username": username}, error, at)
    return form_page(services, "accounts/sign_in.html", *headers, sent=sent, **shown)


def _keep_half(services: Services, half: HalfSignedIn) -> Header:
    left_s = (half.ends_at - services.store.now_ms()) // 1000
    return set_signed(services, _HALF_COOKIE, half, left_s)


def _get_half(services: Services, call: Call) -> HalfSignedIn:
    """The person who entered the password in this browser, or NotSignedIn after some minutes."""
    half = find_signed(services, call, _HALF_COOKIE, HalfSignedIn)
    if half is None:
        raise NotSignedIn(_BEGIN_AGAIN)
    return half


def _finish(services: Services, call: Call, given: Given) -> SignInResult:
    half = _get_half(services, call)
    if not given.code and given.passkey is None:
        raise InvalidRequest("Give a code or a passkey.")
    policy, browser = services.of(AccountServices).factor_policy, browser_of(services, call)
    return second_factor.finish_sign_in(services.store, policy, half, given, browser)


def post_second_factor(services: Services, call: Call) -> Response:
    signed_in = _finish(services, call, call.json(Given))
    return reply_signed_in(services, signed_in, delete_cookie(services, _HALF_COOKIE))


def get_second_step(services: Services, call: Call, error: CatalogError | None = None) -> Response:
    """After the time limit, the sign-in starts again with the password."""
    policy = services.of(AccountServices).factor_policy
    try:
        half = second_factor.asked_again(_get_half(services, call))
        ways = second_factor.ways_of(services.store, policy, half)
    except NotSignedIn as late:
        gone = delete_cookie(services, _HALF_COOKIE)
        return _sign_in_form(services, call, "", gone, error=late)
    shown = {
        "status": _status(error),
        "has_script": ways.passkey_options is not None,
        "ways": ways,
        "next": next_of(call),
        "origin": policy.site.origin,
    }
    form = given_in(call)
    way = "recovery" if form.get("way") == "recovery" or not ways.has_app else ""
    sent = SentForm(way, error=error, at={} if form.get("credential") else {"": "code"})
    kept = _keep_half(services, half)
    return form_page(services, "accounts/second_step.html", kept, sent=sent, **shown)


def post_second_step(services: Services, call: Call) -> Response:
    form = call.form()
    try:
        given = Given(form.get("code", "").strip(), credential_in(form))
        signed_in = _finish(services, call, given)
    except (NotSignedIn, InvalidRequest, TooOften) as error:
        return get_second_step(services, call, error)
    return welcome(services, signed_in, next_of(call), delete_cookie(services, _HALF_COOKIE))


def _ask_for_passkey(services: Services) -> tuple[str, Header]:
    """The challenge for the browser, as JSON, and the cookie that identifies the browser."""
    site = services.of(AccountServices).factor_policy.site
    if site.passkey_error is not None:
        raise InvalidRequest(site.passkey_error)
    asked = PasskeyAsked(new_challenge())
    options = request_options(site, asked.challenge, verifies_user=True)
    return options, set_signed(services, _PASSKEY_COOKIE, asked, _PASSKEY_ASKED_S)


def post_passkey_options(services: Services, _call: Call) -> Response:
    options, cookie = _ask_for_passkey(services)
    return reply({"passkeyOptions": json.loads(options)}, cookie)


def _sign_in_by_passkey(services: Services, call: Call, credential: dict[str, Any]) -> SignInResult:
    asked = find_signed(services, call, _PASSKEY_COOKIE, PasskeyAsked)
    if asked is None:
        raise NotSignedIn("This has taken too long, or cookies are not kept. Try again.")
    policy, browser = services.of(AccountServices).factor_policy, browser_of(services, call)
    return second_factor.sign_in_with_passkey(services.store, policy, asked, credential, browser)


def post_passkey(services: Services, call: Call) -> Response:
    signed_in = _sign_in_by_passkey(services, call, call.json(PasskeyBody).passkey)
    return reply_signed_in(services, signed_in, delete_cookie(services, _PASSKEY_COOKIE))


def get_passkey_page(services: Services, call: Call, error: CatalogError | None = None) -> Response:
    options, cookie = _ask_for_passkey(services)
    shown = {
        "status": _status(error),
        "has_script": True,
        "options": options,
        "origin": services.of(AccountServices).factor_policy.site.origin,
        "next": next_of(call),
    }
    sent = SentForm(error=error)
    return form_page(services, "accounts/sign_in_passkey.html", cookie, sent=sent, **shown)


def post_passkey_form(services: Services, call: Call) -> Response:
    try:
        signed_in = _sign_in_by_passkey(services, call, credential_in(call.form()) or {})
    except (NotSignedIn, TooOften) as error:
        return get_passkey_page(services, call, error)
    return welcome(services, signed_in, next_of(call), delete_cookie(services, _PASSKEY_COOKIE))


def post_sign_out(services: Services, call: Call) -> Response:
    if call.is_signed_in:
        sign_out(services.store, call.visitor)
    return done(delete_cookie(services, COOKIE))


def post_sign_out_form(services: Services, call: Call) -> Response:
    if call.is_signed_in:
        sign_out(services.store, call.visitor)
    return services.renderer.redirect(next_of(call) or "/", delete_cookie(services, COOKIE))
