"""The page of one's own account: who one is here, and where one is signed in."""

from ...actions.manage_account import end_other_sessions, end_session, list_own_sessions
from ..http import Response
from ..internal.call import Call, Services
from .own_page import own_page


def get_account(services: Services, call: Call) -> Response:
    current = call.visitor.session
    return own_page(
        services,
        call,
        "account.html",
        account=call.actor.account,
        current_id=current.id if current is not None else None,
        provider=services.provider.name if services.provider is not None else None,
        sessions=list_own_sessions(services.store, call.visitor, services.lifetimes),
    )


def post_account(services: Services, call: Call) -> Response:
    """End a session, or all but this."""
    which = call.form().get("end", "")
    if which == "others":
        end_other_sessions(services.store, call.visitor)
    else:
        end_session(services.store, call.visitor, which)
    return services.look.redirect("/account")
