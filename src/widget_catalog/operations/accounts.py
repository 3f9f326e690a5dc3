"""The operator's pages about accounts, with what each can use, and invitations to the catalog."""

from collections.abc import Callable, Mapping
from functools import partial

from ..accounts.administer_account import (
    appoint_operator,
    dismiss_operator,
    make_reset_link,
    reset_second_factor,
    set_disabled,
)
from ..accounts.create_account import AUTHOR, OPERATOR, invite
from ..accounts.events import InvitationWithdrawn
from ..accounts.manage_account import sign_out_program_of
from ..accounts.oauth.store import list_grants
from ..accounts.permissions import require_operator_now
from ..accounts.second_factor.store import has_factor
from ..accounts.services import AccountServices
from ..accounts.store import get_account as get_account_by_name
from ..accounts.store import (
    list_accounts_page,
    list_catalog_invitations,
    list_sessions,
    remove_invitation,
)
from ..accounts.tokens.issue_token import revoke_token_of
from ..accounts.tokens.store import list_tokens
from ..catalog.store.events import append
from ..core.actors import Account, Actor, email_error
from ..core.db.engine import Store, Transaction
from ..core.errors import FieldMessage, InvalidRequest, NotFound
from ..core.http.call import Call, Paging
from ..core.http.http import Response
from ..core.http.routing import Handler
from ..core.http.sent_form import NOT_SENT, SentForm, forms_of, own_form_page, own_page
from ..core.http.services import Services
from ..organizations.store import list_memberships

ACCOUNTS = "/operate/accounts"
INVITATIONS = "/operate/invitations"
_PER_PAGE = 50
_UNSEARCHABLE = "The name contains characters that cannot be searched for."
_DONE = {
    "disable": "The account was disabled and cannot sign in.",
    "enable": "The account was enabled.",
    "promote": "The account is now an operator.",
    "demote": "The account is no longer an operator.",
    "second-factor": "The second factor was removed, and the person was signed out everywhere.",
    "token": "The token was revoked.",
    "program": "The program was signed out.",
    "withdraw": "The invitation was revoked.",
}


def get_accounts(services: Services, call: Call) -> Response:
    text = call.query().get("q", "").strip().removeprefix("@")
    error = None if text.isprintable() else InvalidRequest(_UNSEARCHABLE)
    sent = SentForm("", {"q": text}, error, {"": "q"})
    page, _ = call.page()
    with services.store.reading() as connection:
        require_operator_now(connection, call.actor)
        found, total = list_accounts_page(connection, "" if error else text, page, _PER_PAGE)
    paging = Paging.of(call, page, _PER_PAGE, total)
    shown = {"accounts": found, "total": total, "paging": paging}
    return own_page(services, call, "operations/accounts.html", sent=sent, **shown)


def get_account(services: Services, call: Call, sent: SentForm = NOT_SENT) -> Response:
    """An account with its sessions, programs and tokens."""
    store, ours = services.store, services.of(AccountServices)
    now_ms = store.now_ms()
    with store.reading() as connection:
        require_operator_now(connection, call.actor)
        account = get_account_by_name(connection, call.params["username"])
        used_after_ms = now_ms - ours.lifetimes.idle_ms
        access = {
            "has_factor": has_factor(connection, account.id),
            "sessions": list_sessions(connection, account.id, now_ms, used_after_ms),
            "programs": list_grants(connection, account.id, now_ms),
            "tokens": list_tokens(connection, account.id, now_ms),
            "memberships": list_memberships(connection, account.id),
        }
    names = {it.id: it.name for it in ours.oauth.clients.values()}
    more = {"account": account, "access": access, "place": _place(call), "client_names": names}
    return own_form_page(services, call, "operations/account.html", sent, _DONE, **more)


def _place(call: Call) -> str:
    return f"{ACCOUNTS}/{call.params['username']}"


_form = forms_of(get_account, _place)


def _change(name: str, change: Callable[[Store, str, Actor], object]) -> Handler:
    """A form that makes this change to the account."""
    return _form(name)(
        lambda services, call, _: change(services.store, call.params["username"], call.actor)
    )


def _set_disabled(is_disabled: bool, store: Store, username: str, actor: Actor) -> None:
    set_disabled(store, username, is_disabled=is_disabled, actor=actor)


post_disable = _change("disable", partial(_set_disabled, True))
post_enable = _change("enable", partial(_set_disabled, False))
post_promote = _change("promote", appoint_operator)
post_demote = _change("demote", dismiss_operator)
post_second_factor = _change("second-factor", reset_second_factor)


def _end(
    end: Callable[[Transaction, Actor, Account, str], None],
    services: Services,
    call: Call,
    _fields: Mapping[str, str],
) -> None:
    with services.store.writing() as tx:
        require_operator_now(tx.connection, call.actor)
        account = get_account_by_name(tx.connection, call.params["username"])
        end(tx, call.actor, account, call.params["id"])


post_token = _form("token")(partial(_end, revoke_token_of))
post_program = _form("program")(partial(_end, sign_out_program_of))


@_form("reset-link")
def post_reset_link(services: Services, call: Call, _fields: Mapping[str, str]) -> Response:
    """The link is shown only once, so there is no redirect."""
    name = call.params["username"]
    secret = make_reset_link(services.store, services.signing_key, call.actor, name)
    return own_page(
        services,
        call,
        "operator/link.html",
        title=f"New password for @{name}",
        sentence=f"Send this link to @{name} only. It can be used once, within a day.",
        link=f"{services.settings.public_url}/reset-password?link={secret}",
        back=_place(call),
    )


def get_invitations(services: Services, call: Call, sent: SentForm = NOT_SENT) -> Response:
    with services.store.reading() as connection:
        require_operator_now(connection, call.actor)
        found = list_catalog_invitations(connection, services.store.now_ms())
    more = {"invitations": found, "is_mirror": _is_mirror(services)}
    return own_form_page(services, call, "operations/invitations.html", sent, _DONE, **more)


_invitation_form = forms_of(get_invitations, lambda _call: INVITATIONS)


@_invitation_form("invite", {"": "email"})
def post_invitation(services: Services, call: Call, fields: Mapping[str, str]) -> Response:
    """The link is shown only once, so there is no redirect."""
    email, role = fields.get("email", "").strip() or None, fields.get("role", AUTHOR)
    if role not in (AUTHOR, OPERATOR):
        raise InvalidRequest(FieldMessage("role", "Choose a role: author or operator."))
    if email is not None and (error := email_error(email)):
        raise InvalidRequest(error)
    if role == AUTHOR and _is_mirror(services):
        sentence = "This catalog is a mirror: only operators can be invited."
        raise InvalidRequest(FieldMessage("role", sentence))
    secret = invite(services.store, role, email, actor=call.actor)
    return own_page(
        services,
        call,
        "operator/link.html",
        title="Invitation",
        sentence=f"Send this link to the person. It creates one account, of an {role}, and is "
        "valid for a week.",
        link=f"{services.settings.public_url}/join?invitation={secret}",
        back=INVITATIONS,
    )


@_invitation_form("withdraw")
def post_withdraw(services: Services, call: Call, _fields: Mapping[str, str]) -> None:
    with services.store.writing() as tx:
        require_operator_now(tx.connection, call.actor)
        open_ones = list_catalog_invitations(tx.connection, tx.at_ms)
        found = next((it for it in open_ones if it.id == call.params["id"]), None)
        if found is None or not remove_invitation(tx, found.id):
            raise NotFound("There is no such invitation.")
        append(tx, call.actor, InvitationWithdrawn(scope=None, who=found.email))


def _is_mirror(services: Services) -> bool:
    """An author could not use an invitation, because a mirror does not accept publishing."""
    return bool(services.renderer.mirror_url)
