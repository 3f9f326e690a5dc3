"""The account page: sessions, programs, access tokens, and recent activity; the pages to change the
password, and to close the account.
"""

from collections.abc import Mapping

from ...core.errors import Conflict, InvalidRequest, NotAllowed, TooOften
from ...core.http.call import COOKIE, Call, reply
from ...core.http.cookies import delete_cookie
from ...core.http.http import Response
from ...core.http.sent_form import CORRECTABLE, NOT_SENT, SentForm, take_form
from ...core.http.services import Services
from .. import manage_account as managing
from ..second_factor.managing import list_factors
from ..services import AccountServices
from ..sign_in import is_fresh
from ..tokens.issue_token import list_own_tokens, revoke_token
from .own_page import own_page

_ENTRIES = 20
_DONE = {"password": "Your password was changed. You are signed out everywhere else."}


def get_account(services: Services, call: Call) -> Response:
    ours, current = services.of(AccountServices), call.visitor.session
    return own_page(
        services,
        call,
        "accounts/account.html",
        account=call.actor.account,
        has_widgets=managing.has_widgets(services.store, call.actor),
        done=_DONE.get(call.query().get("done", "")),
        current_id=current.id if current is not None else None,
        provider=ours.provider_name,
        has_factor=list_factors(services.store, call.visitor).has_any,
        sessions=managing.list_own_sessions(services.store, call.visitor, ours.lifetimes),
        programs=managing.list_own_programs(services.store, call.visitor),
        client_names={client.id: client.name for client in ours.oauth.clients.values()},
        tokens=list_own_tokens(services.store, call.actor),
        entries=managing.read_own_audit(services.store, call.actor, _ENTRIES),
    )


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


def get_password(services: Services, call: Call) -> Response:
    return _password_page(services, call, NOT_SENT)


def post_password(services: Services, call: Call) -> Response:
    def change(fields: Mapping[str, str]) -> None:
        current, new = fields.get("current", ""), fields.get("new", "")
        keeps = fields.get("keep_tokens") == "yes"
        managing.change_password(services.store, call.visitor, current, new, keeps_tokens=keeps)

    return take_form(
        services,
        call,
        "password",
        change,
        _password_page,
        "/account",
        correctable=(*CORRECTABLE, NotAllowed, TooOften),
    )


def _password_page(services: Services, call: Call, sent: SentForm) -> Response:
    return own_page(
        services,
        call,
        "accounts/password.html",
        error=sent.fault,
        account=call.actor.account,
        provider=services.of(AccountServices).provider_name,
    )


def get_close(services: Services, call: Call) -> Response:
    return _close_page(services, call, NOT_SENT)


def post_close(services: Services, call: Call) -> Response:
    fields = call.form()
    try:
        if fields.get("username", "").strip().removeprefix("@") != call.actor.name:
            raise InvalidRequest("Enter your username to confirm.")
        managing.close_account(services.store, call.visitor, fields.get("password", ""))
    except (InvalidRequest, NotAllowed, Conflict, TooOften) as error:
        return _close_page(services, call, SentForm("close", fields, error))
    return services.renderer.message(
        200,
        "Your account is closed",
        "Its widgets are unlisted. Dashboards that use them keep working.",
        delete_cookie(services, COOKIE),
    )


def _close_page(services: Services, call: Call, sent: SentForm) -> Response:
    return own_page(
        services,
        call,
        "accounts/close_account.html",
        error=sent.fault,
        account=call.actor.account,
        is_fresh=is_fresh(services.store, call.visitor),
        typed=sent.typed("close", "username"),
    )
