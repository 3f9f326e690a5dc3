"""The page to close one's account."""

from ...core.errors import Conflict, InvalidRequest, NotAllowed, TooOften
from ...core.http.call import Call
from ...core.http.http import Response
from ...core.http.sent_form import NOT_SENT, SentForm
from ...core.http.services import Services
from ..manage_account import close_account
from ..session_api import forget_cookie
from ..sign_in import is_fresh
from .own_page import own_page


def get_close(services: Services, call: Call) -> Response:
    return _page(services, call, NOT_SENT)


def post_close(services: Services, call: Call) -> Response:
    fields = call.form()
    try:
        if fields.get("username", "").strip().removeprefix("@") != call.actor.name:
            raise InvalidRequest("Enter your username to confirm.")
        close_account(services.store, call.visitor, fields.get("password", ""))
    except (InvalidRequest, NotAllowed, Conflict, TooOften) as fault:
        return _page(services, call, SentForm("close", fields, fault))
    return services.renderer.message(
        200,
        "Your account is closed",
        "Its widgets are unlisted. Dashboards that use them keep working.",
        forget_cookie(services),
    )


def _page(services: Services, call: Call, sent: SentForm) -> Response:
    return own_page(
        services,
        call,
        "accounts/close_account.html",
        *sent.headers,
        status=sent.status,
        account=call.actor.account,
        is_fresh=is_fresh(services.store, call.visitor),
        typed=sent.typed("close", "username"),
        faults=sent.faults("close"),
    )
