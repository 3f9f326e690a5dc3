"""Handlers of one's account, over the API and on pages: registration, by invitation or open to
anyone; a new password, by a reset link; sessions, programs, the password, closing the account.
"""

from collections.abc import Mapping

import msgspec

from ..core.clock import from_ms, iso
from ..core.errors import (
    FieldMessage,
    InvalidAccount,
    InvalidRequest,
    NotAllowed,
    TooOften,
)
from ..core.http.call import Call, email_for
from ..core.http.cookies import COOKIE
from ..core.http.errors import status_of
from ..core.http.http import Response
from ..core.http.replies import done, reply
from ..core.http.sent_form import CORRECTABLE, NOT_SENT, SentForm, form_page, forms_of, own_page
from ..core.http.services import Services
from ..core.http.signed_cookies import delete_cookie
from . import manage_account as managing
from .administer_account import check_reset_link, use_reset_link
from .create_account import OPERATOR, Registration, check_may_register, register
from .oauth.store import list_grants
from .permissions import read_own
from .second_factor.managing import list_factors, needs_factor
from .services import AccountServices, browser_of
from .sign_in import SignInResult, is_fresh
from .sign_in_endpoints import given_in, next_of, reply_signed_in, welcome
from .tokens.issue_token import revoke_token
from .tokens.store import list_tokens

_ENTRIES = 20
_REVOKED = 10
_CORRECTABLE = (*CORRECTABLE, NotAllowed, TooOften)
_DONE = {"password": "Your password was changed. You are signed out everywhere else."}


class PasswordBody(msgspec.Struct, rename="camel"):
    current_password: str
    new_password: str
    keep_tokens: bool = False


class CloseBody(msgspec.Struct):
    password: str = ""


def _register(services: Services, call: Call, given: Registration) -> SignInResult:
    ours, browser = services.of(AccountServices), browser_of(services, call)
    return register(services.store, given, browser, is_open=ours.is_open, reserved=ours.reserved)


def post_register(services: Services, call: Call) -> Response:
    return reply_signed_in(services, _register(services, call, call.json(Registration)), status=201)


def get_join(services: Services, call: Call, sent: SentForm = NOT_SENT) -> Response:
    given, is_open = given_in(call), services.of(AccountServices).is_open
    secret = given.get("invitation", "")
    try:
        invitation = check_may_register(services.store, secret, is_open=is_open)
    except NotAllowed as refusal:
        return _refused(services, secret, refusal)
    invited = invitation.email if invitation is not None else None
    shown = {
        "invitation": secret,
        "next": next_of(call),
        "invited": invited or "",
        "is_operator": invitation is not None and invitation.role == OPERATOR,
    }
    return form_page(services, "accounts/join.html", sent=sent, **shown)


@forms_of(get_join, lambda call: call.request.path)("", {"": "username"})
def post_join(services: Services, call: Call, fields: Mapping[str, str]) -> Response:
    name, email = fields.get("username", "").strip(), fields.get("email", "").strip()
    secret = fields.get("invitation", "")
    given = Registration(name, email, fields.get("password", ""), secret)
    try:
        signed_in = _register(services, call, given)
    except NotAllowed as refusal:
        return _refused(services, secret, refusal)
    return welcome(services, signed_in, next_of(call))


def _refused(services: Services, secret: str, refusal: NotAllowed) -> Response:
    title = "Invitation not valid" if secret else "Invitation required"
    return services.renderer.message(status_of(refusal), title, refusal.message)


def get_reset(services: Services, call: Call, sent: SentForm = NOT_SENT) -> Response:
    link, template = given_in(call).get("link", ""), "accounts/reset_password.html"
    name = check_reset_link(services.store, services.signing_key, link).username
    return form_page(services, template, sent=sent, link=link, username=name)


@forms_of(get_reset, lambda call: call.request.path, (InvalidAccount,))("", {"": "password"})
def post_reset(services: Services, call: Call, fields: Mapping[str, str]) -> Response:
    link, new = fields.get("link", ""), fields.get("password", "")
    use_reset_link(services.store, services.signing_key, link, new, call.address)
    return services.renderer.redirect("/sign-in?next=/account")


def get_account(services: Services, call: Call) -> Response:
    ours, store, actor = services.of(AccountServices), services.store, call.actor
    session = call.visitor.session
    programs, tokens = read_own(store, actor, list_grants), read_own(store, actor, list_tokens)
    shown = {
        "account": actor.account,
        "is_connected": bool(programs or tokens),
        "has_widgets": managing.has_widgets(store, actor),
        "revoked": managing.list_revoked(store, actor, _REVOKED),
        "done": _DONE.get(call.query().get("done", "")),
        "current_id": session.id if session is not None else None,
        "provider": ours.provider_name,
        "has_factor": list_factors(store, call.visitor).has_any,
        "sessions": managing.list_own_sessions(store, call.visitor, ours.lifetimes),
        "programs": programs,
        "client_names": {client.id: client.name for client in ours.oauth.clients.values()},
        "tokens": tokens,
        "entries": managing.read_own_audit(store, actor, _ENTRIES),
    }
    return own_page(services, call, "accounts/account.html", **shown)


def get_corner(_services: Services, call: Call) -> Response:
    """The signed-in user, for the corner of pages that are the same for everybody."""
    return reply({"username": call.actor.name if call.is_signed_in else None})


def post_account(services: Services, call: Call) -> Response:
    """End a session, a program's sign-in, an access token; or everything but this session."""
    form = call.form()
    which = form.get("end", "")
    if which == "others":
        managing.end_other_sessions(services.store, call.visitor)
    elif "revoke" in form:
        revoke_token(services.store, call.actor, form["revoke"])
    elif "program" in form:
        managing.sign_out_program(services.store, call.visitor, form["program"])
    else:
        managing.end_session(services.store, call.visitor, which)
    return services.renderer.redirect("/account")


def get_session(_services: Services, call: Call) -> Response:
    visitor = call.visitor
    shown: dict[str, object] = {
        "username": visitor.actor.name,
        "email": email_for(visitor),
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
        shown["csrfToken"] = call.csrf_token
        shown["expiresAt"] = iso(from_ms(visitor.session.expires_at))
    return reply(shown)


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
        for session in managing.list_own_sessions(services.store, call.visitor, lifetimes)
    ]
    return reply({"sessions": sessions})


def delete_session(services: Services, call: Call) -> Response:
    managing.end_session(services.store, call.visitor, call.params["id"])
    return done()


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


def post_password(services: Services, call: Call) -> Response:
    body = call.json(PasswordBody)
    current, new, keeps_tokens = body.current_password, body.new_password, body.keep_tokens
    managing.change_password(services.store, call.visitor, current, new, keeps_tokens=keeps_tokens)
    return done()


def get_password(services: Services, call: Call, sent: SentForm = NOT_SENT) -> Response:
    name, account = services.of(AccountServices).provider_name, call.actor.account
    shown = {"account": account, "provider": name}
    return own_page(services, call, "accounts/password.html", sent=sent, **shown)


@forms_of(get_password, lambda _call: "/account", _CORRECTABLE)(
    "password", {"": "current", "password": "new"}
)
def post_password_form(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    current, new = fields.get("current", ""), fields.get("new", "")
    keeps = fields.get("keep_tokens") == "yes"
    managing.change_password(services.store, call.visitor, current, new, keeps_tokens=keeps)


def post_close(services: Services, call: Call) -> Response:
    managing.close_account(services.store, call.visitor, call.json(CloseBody).password)
    return done(delete_cookie(services, COOKIE))


def get_close(services: Services, call: Call, sent: SentForm = NOT_SENT) -> Response:
    if isinstance(sent.error, NotAllowed):
        sent = sent._replace(at={"": "password"})
    shown = {"account": call.actor.account, "is_fresh": is_fresh(services.store, call.visitor)}
    return own_page(services, call, "accounts/close_account.html", sent=sent, **shown)


@forms_of(get_close, lambda call: call.request.path, _CORRECTABLE)("")
def post_close_form(services: Services, call: Call, fields: Mapping[str, str]) -> Response:
    if fields.get("username", "").strip().removeprefix("@") != call.actor.name:
        raise InvalidRequest(FieldMessage("username", "Enter your username to confirm."))
    managing.close_account(services.store, call.visitor, fields.get("password", ""))
    return services.renderer.message(
        200,
        "Your account is closed",
        "Its widgets are unlisted. Dashboards that use them keep working.",
        delete_cookie(services, COOKIE),
    )
