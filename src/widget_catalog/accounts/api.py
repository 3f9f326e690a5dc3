"""Handlers: registering, signing in and out, sessions, the second factor, closing an account. What
the pages to sign in do, too, is in functions of its own.
"""

import json
from typing import Any

import msgspec

from ..core.clock import from_ms, iso
from ..core.errors import InvalidRequest, NotSignedIn
from ..core.http.call import COOKIE, Call, cookie_of, csrf_token, done, email_for, reply
from ..core.http.cookies import cookie_attributes, delete_cookie, find_signed, set_signed
from ..core.http.http import Response
from ..core.http.rendering import Header
from ..core.http.services import Services
from .create_account import Registration, register
from .manage_account import change_password, close_account, end_session, list_own_sessions
from .second_factor import signing_in as second_factor
from .second_factor.managing import list_factors, needs_factor
from .second_factor.passkeys import new_challenge, request_options
from .second_factor.signing_in import Given, HalfSignedIn, PasskeyAsked, Ways
from .services import AccountServices, browser_of
from .sign_in import FactorNeeded, SignedIn, sign_in, sign_out

HALF_COOKIE = "half-signed-in"
PASSKEY_COOKIE = "passkey-asked"
_PASSKEY_ASKED_S = 900
_BEGIN_AGAIN = "This sign-in has expired, or cookies are blocked. Start again with the password."


class PasswordBody(msgspec.Struct, rename="camel"):
    current_password: str
    new_password: str
    keep_tokens: bool = False


class CloseBody(msgspec.Struct):
    password: str = ""


class SignInBody(msgspec.Struct):
    username: str
    password: str
    code: str = ""


class FactorBody(msgspec.Struct):
    code: str = ""
    passkey: dict[str, Any] | None = None


class PasskeyBody(msgspec.Struct):
    passkey: dict[str, Any]


def post_register(services: Services, call: Call) -> Response:
    return _welcome(services, register_by(services, call, call.json(Registration)), status=201)


def register_by(services: Services, call: Call, given: Registration) -> SignedIn:
    ours, browser = services.of(AccountServices), browser_of(services, call)
    return register(services.store, given, browser, is_open=ours.is_open, reserved=ours.reserved)


def post_sign_in(services: Services, call: Call) -> Response:
    body = call.json(SignInBody)
    came = sign_in_by_password(services, call, body.username, body.password, body.code.strip())
    return _half_way(services, came) if isinstance(came, FactorNeeded) else _welcome(services, came)


def sign_in_by_password(
    services: Services, call: Call, username: str, password: str, code: str
) -> SignedIn | FactorNeeded:
    """With the password alone, or at once with a code."""
    browser = browser_of(services, call)
    if not code:
        return sign_in(services.store, username, password, browser)
    policy = services.of(AccountServices).factor_policy
    return second_factor.sign_in_at_once(services.store, policy, username, password, code, browser)


def _half_way(services: Services, needed: FactorNeeded) -> Response:
    """The password was right: which second factors are possible, and how to send them."""
    half = second_factor.half_signed_in(services.store, needed)
    ways = second_factor.ways_of(services.store, services.of(AccountServices).factor_policy, half)
    shown = {
        "ways": _names_of(ways),
        "passkeyOptions": json.loads(ways.passkey_options) if ways.passkey_options else None,
        "expiresAt": iso(from_ms(half.ends_at)),
    }
    return reply({"secondFactor": shown}, keep_half(services, half), status=202)


def _names_of(ways: Ways) -> list[str]:
    named = {
        "passkey": ways.passkey_options is not None,
        "authenticator app": ways.has_app,
        "recovery code": ways.has_recovery_codes,
    }
    return [name for name, is_there in named.items() if is_there]


def keep_half(services: Services, half: HalfSignedIn) -> Header:
    left_s = (half.ends_at - services.store.now_ms()) // 1000
    return set_signed(services, HALF_COOKIE, half, left_s)


def get_half(services: Services, call: Call) -> HalfSignedIn:
    """The person who entered the password in this browser, or NotSignedIn after some minutes."""
    half = find_signed(services, call, HALF_COOKIE, HalfSignedIn)
    if half is None:
        raise NotSignedIn(_BEGIN_AGAIN)
    return half


def post_second_factor(services: Services, call: Call) -> Response:
    body = call.json(FactorBody)
    signed_in = finish(services, call, Given(body.code, body.passkey))
    return _welcome(services, signed_in, delete_cookie(services, HALF_COOKIE))


def finish(services: Services, call: Call, given: Given) -> SignedIn:
    half = get_half(services, call)
    if not given.code and given.credential is None:
        raise InvalidRequest("Give a code or a passkey.")
    policy, browser = services.of(AccountServices).factor_policy, browser_of(services, call)
    return second_factor.finish_sign_in(services.store, policy, half, given, browser)


def post_passkey_options(services: Services, _call: Call) -> Response:
    options, cookie = ask_for_passkey(services)
    return reply({"passkeyOptions": json.loads(options)}, cookie)


def ask_for_passkey(services: Services) -> tuple[str, Header]:
    """The challenge for the browser, as JSON, and the cookie that identifies the browser."""
    site = services.of(AccountServices).factor_policy.site
    if site.passkey_error is not None:
        raise InvalidRequest(site.passkey_error)
    asked = PasskeyAsked(new_challenge())
    options = request_options(site, asked.challenge, verifies_user=True)
    return options, set_signed(services, PASSKEY_COOKIE, asked, _PASSKEY_ASKED_S)


def post_passkey(services: Services, call: Call) -> Response:
    signed_in = sign_in_by_passkey(services, call, call.json(PasskeyBody).passkey)
    return _welcome(services, signed_in, delete_cookie(services, PASSKEY_COOKIE))


def sign_in_by_passkey(services: Services, call: Call, credential: dict[str, Any]) -> SignedIn:
    asked = find_signed(services, call, PASSKEY_COOKIE, PasskeyAsked)
    if asked is None:
        raise NotSignedIn("This has taken too long, or cookies are not kept. Try again.")
    policy, browser = services.of(AccountServices).factor_policy, browser_of(services, call)
    return second_factor.sign_in_with_passkey(services.store, policy, asked, credential, browser)


def get_second_factor(services: Services, call: Call) -> Response:
    factors = list_factors(services.store, call.visitor)
    policy, app = services.of(AccountServices).factor_policy, factors.app
    passkeys = [
        {
            "id": key.id,
            "name": key.name,
            "host": key.host,
            "isBackedUp": key.is_backed_up,
            "createdAt": iso(from_ms(key.created_at)),
            "lastUsedAt": None if key.last_used_at is None else iso(from_ms(key.last_used_at)),
        }
        for key in factors.passkeys
    ]
    shown = {
        "isRequired": needs_factor(services.store, policy, call.visitor),
        "passkeys": passkeys,
        "authenticatorApp": None if app is None else {"createdAt": iso(from_ms(app.created_at))},
        "recoveryCodesLeft": factors.recovery_codes,
    }
    return reply(shown)


def post_sign_out(services: Services, call: Call) -> Response:
    if call.is_signed_in:
        sign_out(services.store, call.visitor)
    return done(delete_cookie(services, COOKIE))


def get_session(_services: Services, call: Call) -> Response:
    visitor = call.visitor
    shown: dict[str, object] = {
        "username": visitor.actor.name,
        "email": email_for(visitor.actor),
        "isOperator": visitor.actor.is_operator,
        "via": visitor.actor.via.value,
    }
    if (limits := visitor.actor.limits) is not None:
        shown["token"] = {
            "actions": [right.value for right in limits.rights],
            "scopes": limits.scopes,
            "widgets": limits.widgets,
        }
    if visitor.session is not None:
        shown["csrfToken"] = csrf_token(cookie_of(call.request) or "")
        shown["expiresAt"] = iso(from_ms(visitor.session.expires_at))
    return reply(shown)


def post_password(services: Services, call: Call) -> Response:
    body = call.json(PasswordBody)
    current, new, keeps_tokens = body.current_password, body.new_password, body.keep_tokens
    change_password(services.store, call.visitor, current, new, keeps_tokens=keeps_tokens)
    return done()


def get_sessions(services: Services, call: Call) -> Response:
    current, lifetimes = call.visitor.session, services.of(AccountServices).lifetimes
    sessions = [
        {
            "id": session.id,
            "createdAt": iso(from_ms(session.created_at)),
            "lastSeenAt": iso(from_ms(session.last_seen_at)),
            "expiresAt": iso(from_ms(session.expires_at)),
            "isCurrent": current is not None and session.id == current.id,
        }
        for session in list_own_sessions(services.store, call.visitor, lifetimes)
    ]
    return reply({"sessions": sessions})


def delete_session(services: Services, call: Call) -> Response:
    end_session(services.store, call.visitor, call.params["id"])
    return done()


def post_close(services: Services, call: Call) -> Response:
    close_account(services.store, call.visitor, call.json(CloseBody).password)
    return done(delete_cookie(services, COOKIE))


def session_cookie(services: Services, secret: str) -> Header:
    seconds = services.of(AccountServices).lifetimes.most_ms // 1000
    attributes = cookie_attributes(services.settings.public_url)
    return ("set-cookie", f"{COOKIE}={secret}; Max-Age={seconds}{attributes}")


def _welcome(
    services: Services, signed_in: SignedIn, *headers: Header, status: int = 200
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
    return reply(shown, session_cookie(services, signed_in.secret), *headers, status=status)
