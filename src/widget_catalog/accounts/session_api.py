"""Handlers: registering, signing out, sessions, closing an account."""

import msgspec

from ..accounts.services import AccountServices
from ..core.clock import from_ms, iso
from ..core.http.call import COOKIE, Call, cookie_of, csrf_token, done, email_for, reply
from ..core.http.cookies import cookie_attributes, delete_cookie
from ..core.http.dispatcher import refuse_other_sites
from ..core.http.http import Response
from ..core.http.services import Services
from .browsers import browser_of
from .create_account import register
from .manage_account import change_password, close_account, end_session, list_own_sessions
from .settings import AccountSettings
from .sign_in import SignedIn, sign_out


class RegisterBody(msgspec.Struct):
    username: str
    email: str
    password: str
    invitation: str = ""


class PasswordBody(msgspec.Struct, rename="camel"):
    current_password: str
    new_password: str
    keep_tokens: bool = False


class CloseBody(msgspec.Struct):
    password: str = ""


def post_register(services: Services, call: Call) -> Response:
    refuse_other_sites(services, call)
    body = call.json(RegisterBody)
    signed_in = register(
        services.store,
        services.settings.of(AccountSettings).registration,
        services.of(AccountServices).lifetimes,
        username=body.username,
        email=body.email,
        password=body.password,
        address=call.address,
        secret=body.invitation,
        browser=browser_of(call),
        reserved=services.of(AccountServices).reserved,
    )
    return welcome(services, signed_in, status=201)


def post_sign_out(services: Services, call: Call) -> Response:
    if call.is_signed_in:
        sign_out(services.store, call.visitor)
    return done(forget_cookie(services))


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
            "actions": [it.value for it in limits.rights],
            "scopes": limits.scopes,
            "widgets": limits.widgets,
        }
    if visitor.session is not None:
        shown["csrfToken"] = csrf_token(cookie_of(call.request) or "")
        shown["expiresAt"] = iso(from_ms(visitor.session.expires_at))
    return reply(shown)


def post_password(services: Services, call: Call) -> Response:
    body = call.json(PasswordBody)
    change_password(
        services.store,
        call.visitor,
        body.current_password,
        body.new_password,
        keeps_tokens=body.keep_tokens,
    )
    return done()


def get_sessions(services: Services, call: Call) -> Response:
    current = call.visitor.session
    sessions = [
        {
            "id": it.id,
            "createdAt": iso(from_ms(it.created_at)),
            "lastSeenAt": iso(from_ms(it.last_seen_at)),
            "expiresAt": iso(from_ms(it.expires_at)),
            "isCurrent": current is not None and it.id == current.id,
        }
        for it in list_own_sessions(
            services.store, call.visitor, services.of(AccountServices).lifetimes
        )
    ]
    return reply({"sessions": sessions})


def delete_session(services: Services, call: Call) -> Response:
    end_session(services.store, call.visitor, call.params["id"])
    return done()


def post_close(services: Services, call: Call) -> Response:
    close_account(services.store, call.visitor, call.json(CloseBody).password)
    return done(forget_cookie(services))


def session_cookie(services: Services, secret: str) -> tuple[str, str]:
    """The session cookie."""
    seconds = services.of(AccountServices).lifetimes.most_ms // 1000
    attributes = cookie_attributes(services.settings.public_url)
    return ("set-cookie", f"{COOKIE}={secret}; Max-Age={seconds}{attributes}")


def forget_cookie(services: Services) -> tuple[str, str]:
    return delete_cookie(services, COOKIE)


def welcome(
    services: Services, signed_in: SignedIn, *headers: tuple[str, str], status: int = 200
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
