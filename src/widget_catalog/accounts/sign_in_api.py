"""Handlers: signing in with a password, a second factor, or a passkey alone."""

import json
from typing import Any

import msgspec

from ..accounts.services import AccountServices
from ..core.clock import from_ms, iso
from ..core.errors import InvalidRequest, NotSignedIn
from ..core.http.call import Call, reply
from ..core.http.cookies import delete_cookie, find_signed, set_signed
from ..core.http.dispatcher import refuse_other_sites
from ..core.http.http import Response
from ..core.http.rendering import Header
from ..core.http.services import Services
from .browsers import browser_of
from .second_factor.managing import list_factors, needs_factor
from .second_factor.passkeys import new_challenge, request_options
from .second_factor.signing_in import (
    Given,
    HalfSignedIn,
    PasskeyAsked,
    Ways,
    finish_sign_in,
    half_signed_in,
    sign_in_at_once,
    sign_in_with_passkey,
    ways_of,
)
from .session_api import welcome
from .sign_in import FactorNeeded, SignedIn, sign_in

HALF_COOKIE = "half-signed-in"
PASSKEY_COOKIE = "passkey-asked"
_PASSKEY_ASKED_S = 900
_BEGIN_AGAIN = "This sign-in has expired, or cookies are blocked. Start again with the password."


class SignInBody(msgspec.Struct):
    username: str
    password: str
    code: str = ""


class FactorBody(msgspec.Struct):
    code: str = ""
    passkey: dict[str, Any] | None = None


class PasskeyBody(msgspec.Struct):
    passkey: dict[str, Any]


def post_sign_in(services: Services, call: Call) -> Response:
    refuse_other_sites(services, call)
    body = call.json(SignInBody)
    came = sign_in_by_password(services, call, body.username, body.password, body.code.strip())
    return _half_way(services, came) if isinstance(came, FactorNeeded) else welcome(services, came)


def sign_in_by_password(
    services: Services, call: Call, username: str, password: str, code: str
) -> SignedIn | FactorNeeded:
    """With the password alone, or at once with a code."""
    if not code:
        return sign_in(
            services.store,
            username,
            password,
            call.address,
            services.of(AccountServices).lifetimes,
            browser=browser_of(call),
        )
    return sign_in_at_once(
        services.store,
        services.of(AccountServices).factor_policy,
        username,
        password,
        code,
        call.address,
        services.of(AccountServices).lifetimes,
        browser=browser_of(call),
    )


def _half_way(services: Services, needed: FactorNeeded) -> Response:
    """The password was right: which second factors are possible, and how to send them."""
    half = half_signed_in(services.store, needed)
    ways = ways_of(services.store, services.of(AccountServices).factor_policy, half)
    shown = {
        "secondFactor": {
            "ways": ways_named(ways),
            "passkeyOptions": json.loads(ways.passkey_options) if ways.passkey_options else None,
            "expiresAt": iso(from_ms(half.ends_at)),
        }
    }
    return reply(shown, keep_half(services, half), status=202)


def post_second_factor(services: Services, call: Call) -> Response:
    refuse_other_sites(services, call)
    body = call.json(FactorBody)
    signed_in = finish(services, call, Given(body.code, body.passkey))
    return welcome(services, signed_in, delete_cookie(services, HALF_COOKIE))


def post_passkey_options(services: Services, call: Call) -> Response:
    refuse_other_sites(services, call)
    options, cookie = ask_for_passkey(services)
    return reply({"passkeyOptions": json.loads(options)}, cookie)


def post_passkey(services: Services, call: Call) -> Response:
    refuse_other_sites(services, call)
    signed_in = sign_in_by_passkey(services, call, call.json(PasskeyBody).passkey)
    return welcome(services, signed_in, delete_cookie(services, PASSKEY_COOKIE))


def get_second_factor(services: Services, call: Call) -> Response:
    factors = list_factors(services.store, call.visitor)
    app = factors.app
    shown = {
        "isRequired": needs_factor(
            services.store, services.of(AccountServices).factor_policy, call.visitor
        ),
        "passkeys": [
            {
                "id": it.id,
                "name": it.name,
                "host": it.host,
                "isBackedUp": it.is_backed_up,
                "createdAt": iso(from_ms(it.created_at)),
                "lastUsedAt": None if it.last_used_at is None else iso(from_ms(it.last_used_at)),
            }
            for it in factors.passkeys
        ],
        "authenticatorApp": None if app is None else {"createdAt": iso(from_ms(app.created_at))},
        "recoveryCodesLeft": factors.recovery_codes,
    }
    return reply(shown)


def keep_half(services: Services, half: HalfSignedIn) -> Header:
    left_s = (half.ends_at - services.store.now_ms()) // 1000
    return set_signed(services, HALF_COOKIE, half, left_s)


def get_half(services: Services, call: Call) -> HalfSignedIn:
    """The person who entered the password in this browser; raises NotSignedIn if that was too long
    ago.
    """
    half = find_signed(services, call, HALF_COOKIE, HalfSignedIn)
    if half is None:
        raise NotSignedIn(_BEGIN_AGAIN)
    return half


def finish(services: Services, call: Call, given: Given) -> SignedIn:
    half = get_half(services, call)
    if not given.code and given.credential is None:
        raise InvalidRequest("Give a code or a passkey.")
    return finish_sign_in(
        services.store,
        services.of(AccountServices).factor_policy,
        half,
        given,
        call.address,
        services.of(AccountServices).lifetimes,
        browser=browser_of(call),
    )


def ask_for_passkey(services: Services) -> tuple[str, Header]:
    """The challenge for the browser, as JSON, and the cookie that identifies the browser."""
    site = services.of(AccountServices).factor_policy.site
    if site.passkey_fault is not None:
        raise InvalidRequest(site.passkey_fault)
    asked = PasskeyAsked(new_challenge())
    options = request_options(site, asked.challenge, verifies_user=True)
    return options, set_signed(services, PASSKEY_COOKIE, asked, _PASSKEY_ASKED_S)


def sign_in_by_passkey(services: Services, call: Call, credential: dict[str, Any]) -> SignedIn:
    asked = find_signed(services, call, PASSKEY_COOKIE, PasskeyAsked)
    if asked is None:
        raise NotSignedIn("This has taken too long, or cookies are not kept. Try again.")
    return sign_in_with_passkey(
        services.store,
        services.of(AccountServices).factor_policy,
        asked,
        credential,
        call.address,
        services.of(AccountServices).lifetimes,
        browser=browser_of(call),
    )


def ways_named(ways: Ways) -> list[str]:
    named = {
        "passkey": ways.passkey_options is not None,
        "authenticator app": ways.has_app,
        "recovery code": ways.has_recovery_codes,
    }
    return [name for name, is_there in named.items() if is_there]
