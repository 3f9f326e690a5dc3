"""The account page: sessions, programs, access tokens, and recent activity."""

from ...accounts.services import AccountServices
from ...core.http.call import Call, reply
from ...core.http.http import Response
from ...core.http.services import Services
from ..manage_account import (
    end_other_sessions,
    end_session,
    has_widgets,
    list_own_programs,
    list_own_sessions,
    read_own_audit,
    sign_out_program,
)
from ..second_factor.managing import list_factors
from ..tokens.issue_token import list_own_tokens, revoke_token
from .own_page import own_page

_ENTRIES = 20
_DONE = {"password": "Your password was changed. You are signed out everywhere else."}


def get_account(services: Services, call: Call) -> Response:
    current = call.visitor.session
    return own_page(
        services,
        call,
        "accounts/account.html",
        account=call.actor.account,
        has_widgets=has_widgets(services.store, call.actor),
        done=_DONE.get(call.query().get("done", "")),
        current_id=current.id if current is not None else None,
        provider=services.of(AccountServices).provider_name,
        has_factor=list_factors(services.store, call.visitor).has_any,
        sessions=list_own_sessions(
            services.store, call.visitor, services.of(AccountServices).lifetimes
        ),
        programs=list_own_programs(services.store, call.visitor),
        client_names={it.id: it.name for it in services.of(AccountServices).oauth.clients.values()},
        tokens=list_own_tokens(services.store, call.actor),
        entries=read_own_audit(services.store, call.actor, _ENTRIES),
    )


def get_corner(_services: Services, call: Call) -> Response:
    """The signed-in user, for the corner of pages that are the same for everybody."""
    return reply({"username": call.actor.name if call.is_signed_in else None})


def post_account(services: Services, call: Call) -> Response:
    """End a session, a program's sign-in, an access token; or everything but this session."""
    form = call.form()
    which = form.get("end", "")
    if which == "others":
        end_other_sessions(services.store, call.visitor)
    elif "revoke" in form:
        revoke_token(services.store, call.actor, form["revoke"])
    elif "program" in form:
        sign_out_program(services.store, call.visitor, form["program"])
    else:
        end_session(services.store, call.visitor, which)
    return services.renderer.redirect("/account")
