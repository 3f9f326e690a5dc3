"""The page to change the password."""

from collections.abc import Mapping

from ...accounts.services import AccountServices
from ...core.errors import NotAllowed, TooOften
from ...core.http.call import Call
from ...core.http.http import Response
from ...core.http.sent_form import CORRECTABLE, NOT_SENT, SentForm, take_form
from ...core.http.services import Services
from ..manage_account import change_password
from .own_page import own_page


def get_password(services: Services, call: Call) -> Response:
    return _page(services, call, NOT_SENT)


def post_password(services: Services, call: Call) -> Response:
    def change(fields: Mapping[str, str]) -> None:
        current, new = fields.get("current", ""), fields.get("new", "")
        keeps_tokens = fields.get("keep_tokens") == "yes"
        change_password(services.store, call.visitor, current, new, keeps_tokens=keeps_tokens)

    correctable = (*CORRECTABLE, NotAllowed, TooOften)
    return take_form(services, call, "password", change, _page, "/account", correctable=correctable)


def _page(services: Services, call: Call, sent: SentForm) -> Response:
    return own_page(
        services,
        call,
        "accounts/password.html",
        *sent.headers,
        status=sent.status,
        account=call.actor.account,
        provider=services.of(AccountServices).provider_name,
        faults=sent.faults("password"),
    )
