"""Pages of one's account: sessions, programs, tokens, activity; the password; closing it."""

from collections.abc import Mapping

from ...core.errors import Conflict, InvalidRequest, NotAllowed, TooOften
from ...core.http.call import COOKIE, Call, reply
from ...core.http.cookies import delete_cookie
from ...core.http.http import Response
from ...core.http.sent_form import CORRECTABLE, NOT_SENT, SentForm, forms_of
from ...core.http.services import Services
from .. import manage_account as managing
from ..oauth.store import list_grants
from ..permissions import read_own
from ..second_factor.managing import list_factors
from ..services import AccountServices
from ..sign_in import is_fresh
from ..tokens.issue_token import revoke_token
from ..tokens.store import list_tokens
from .own_page import own_page

_ENTRIES = 20
_DONE = {"password": "Your password was changed. You are signed out everywhere else."}


def get_account(services: Services, call: Call) -> Response:
    ours, store, actor = services.of(AccountServices), services.store, call.actor
    session = call.visitor.session
    shown = {
        "account": actor.account,
        "has_widgets": managing.has_widgets(store, actor),
        "done": _DONE.get(call.query().get("done", "")),
        "current_id": session.id if session is not None else None,
        "provider": ours.provider_name,
        "has_factor": list_factors(store, call.visitor).has_any,
        "sessions": managing.list_own_sessions(store, call.visitor, ours.lifetimes),
        "programs": read_own(store, actor, list_grants),
        "client_names": {client.id: client.name for client in ours.oauth.clients.values()},
        "tokens": read_own(store, actor, list_tokens),
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


def get_password(services: Services, call: Call, sent: SentForm = NOT_SENT) -> Response:
    name, account = services.of(AccountServices).provider_name, call.actor.account
    template, error = "accounts/password.html", sent.fault
    return own_page(services, call, template, error=error, account=account, provider=name)


@forms_of(get_password, lambda _call: "/account", (*CORRECTABLE, NotAllowed, TooOften))("password")
def post_password(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    current, new = fields.get("current", ""), fields.get("new", "")
    keeps = fields.get("keep_tokens") == "yes"
    managing.change_password(services.store, call.visitor, current, new, keeps_tokens=keeps)


def get_close(services: Services, call: Call, sent: SentForm = NOT_SENT) -> Response:
    shown = {
        "account": call.actor.account,
        "is_fresh": is_fresh(services.store, call.visitor),
        "typed": sent.typed("close", "username"),
    }
    return own_page(services, call, "accounts/close_account.html", error=sent.fault, **shown)


def post_close(services: Services, call: Call) -> Response:
    fields = call.form()
    try:
        if fields.get("username", "").strip().removeprefix("@") != call.actor.name:
            raise InvalidRequest("Enter your username to confirm.")
        managing.close_account(services.store, call.visitor, fields.get("password", ""))
    except (InvalidRequest, NotAllowed, Conflict, TooOften) as error:
        return get_close(services, call, SentForm("close", fields, error))
    return services.renderer.message(
        200,
        "Your account is closed",
        "Its widgets are unlisted. Dashboards that use them keep working.",
        delete_cookie(services, COOKIE),
    )
