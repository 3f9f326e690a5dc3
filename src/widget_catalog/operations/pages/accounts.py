"""All accounts, and one of them with its sessions, programs and tokens."""

from collections.abc import Mapping

from ...accounts.administer_account import (
    appoint_operator,
    dismiss_operator,
    make_reset_link,
    reset_second_factor,
    set_disabled,
)
from ...accounts.pages.own_page import own_page
from ...accounts.services import AccountServices
from ...core.errors import InvalidRequest
from ...core.http.call import Call
from ...core.http.http import Response
from ...core.http.paging import Paging
from ...core.http.sent_form import CORRECTABLE, NOT_SENT, SentForm, forms_of
from ...core.http.services import Services
from ..operate_accounts import (
    revoke_token_of,
    search_accounts,
    sign_out_program_of,
    view_account_access,
)

ACCOUNTS = "/operate/accounts"
_PER_PAGE = 50
_DONE = {
    "disable": "The account was disabled and cannot sign in.",
    "enable": "The account was enabled.",
    "promote": "The account is now an operator.",
    "demote": "The account is no longer an operator.",
    "second-factor": "The second factor was removed, and the person was signed out everywhere.",
    "token": "The token was revoked.",
    "program": "The program was signed out.",
}


def _place(call: Call) -> str:
    return f"{ACCOUNTS}/{call.params['username']}"


def _page(services: Services, call: Call, sent: SentForm) -> Response:
    name = call.params["username"]
    access = view_account_access(
        services.store, call.actor, name, services.of(AccountServices).lifetimes
    )
    return own_page(
        services,
        call,
        "operations/account.html",
        *sent.headers,
        status=sent.status,
        access=access,
        account=access.account,
        place=_place(call),
        client_names={it.id: it.name for it in services.of(AccountServices).oauth.clients.values()},
        sent=sent,
        done=_DONE.get(call.query().get("done", "")),
    )


_form = forms_of(_page, _place)


def get_accounts(services: Services, call: Call) -> Response:
    text = call.query().get("q", "").strip().removeprefix("@")
    if not text.isprintable():
        raise InvalidRequest("The name contains characters that cannot be searched for.")
    page, _ = call.page()
    found, total = search_accounts(services.store, call.actor, text, page, _PER_PAGE)
    return own_page(
        services,
        call,
        "operations/accounts.html",
        text=text,
        accounts=found,
        total=total,
        paging=Paging.of(call, page, _PER_PAGE, total),
    )


def get_account(services: Services, call: Call) -> Response:
    return _page(services, call, NOT_SENT)


@_form("disable")
def post_disable(services: Services, call: Call, _fields: Mapping[str, str]) -> None:
    name = call.params["username"]
    set_disabled(services.store, name, is_disabled=True, actor=call.actor)


@_form("enable")
def post_enable(services: Services, call: Call, _fields: Mapping[str, str]) -> None:
    name = call.params["username"]
    set_disabled(services.store, name, is_disabled=False, actor=call.actor)


@_form("promote")
def post_promote(services: Services, call: Call, _fields: Mapping[str, str]) -> None:
    appoint_operator(services.store, call.params["username"], call.actor)


@_form("demote")
def post_demote(services: Services, call: Call, _fields: Mapping[str, str]) -> None:
    dismiss_operator(services.store, call.params["username"], call.actor)


@_form("second-factor")
def post_second_factor(services: Services, call: Call, _fields: Mapping[str, str]) -> None:
    reset_second_factor(services.store, call.params["username"], call.actor)


@_form("token")
def post_token(services: Services, call: Call, _fields: Mapping[str, str]) -> None:
    revoke_token_of(services.store, call.actor, call.params["username"], call.params["id"])


@_form("program")
def post_program(services: Services, call: Call, _fields: Mapping[str, str]) -> None:
    name, id_ = call.params["username"], call.params["id"]
    sign_out_program_of(services.store, call.actor, name, id_)


def post_reset_link(services: Services, call: Call) -> Response:
    """The link is shown only once, so there is no redirect."""
    name = call.params["username"]
    try:
        secret = make_reset_link(services.store, services.signing_key, call.actor, name)
    except CORRECTABLE as fault:
        return _page(services, call, SentForm("reset-link", call.form(), fault))
    return own_page(
        services,
        call,
        "operator/link.html",
        title=f"New password for @{name}",
        sentence=f"Send this link to @{name} only. It can be used once, within a day.",
        link=f"{services.settings.public_url}/reset-password?link={secret}",
        back=_place(call),
    )
