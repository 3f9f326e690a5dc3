"""Invitations to create an account in the catalog."""

from collections.abc import Mapping

from ...accounts.create_account import AUTHOR, OPERATOR, invite
from ...accounts.pages.own_page import own_page
from ...core.actors import email_fault
from ...core.errors import InvalidRequest
from ...core.http.call import Call
from ...core.http.http import Response
from ...core.http.sent_form import CORRECTABLE, NOT_SENT, SentForm, take_form
from ...core.http.services import Services
from ..operate_accounts import list_open_invitations, withdraw_catalog_invitation

INVITATIONS = "/operate/invitations"
_DONE = {"withdraw": "The invitation was revoked."}


def get_invitations(services: Services, call: Call) -> Response:
    return _page(services, call, NOT_SENT)


def post_invitation(services: Services, call: Call) -> Response:
    """The link is shown only once, so there is no redirect."""
    fields = call.form()
    email = fields.get("email", "").strip() or None
    role = fields.get("role", AUTHOR)
    try:
        if role not in (AUTHOR, OPERATOR):
            raise InvalidRequest("Choose a role: author or operator.")
        if email is not None and (fault := email_fault(email)):
            raise InvalidRequest(fault)
        if role == AUTHOR and _is_mirror(services):
            raise InvalidRequest("This catalog is a mirror: only operators can be invited.")
        secret = invite(services.store, role, email, actor=call.actor)
    except CORRECTABLE as refused:
        return _page(services, call, SentForm("invite", fields, refused))
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


def post_withdraw(services: Services, call: Call) -> Response:
    def change(_fields: Mapping[str, str]) -> None:
        withdraw_catalog_invitation(services.store, call.actor, call.params["id"])

    return take_form(services, call, "withdraw", change, _page, INVITATIONS)


def _page(services: Services, call: Call, sent: SentForm) -> Response:
    return own_page(
        services,
        call,
        "operations/invitations.html",
        *sent.headers,
        status=sent.status,
        invitations=list_open_invitations(services.store, call.actor),
        is_mirror=_is_mirror(services),
        sent=sent,
        done=_DONE.get(call.query().get("done", "")),
    )


def _is_mirror(services: Services) -> bool:
    """An author could not use an invitation, because a mirror does not accept publishing."""
    return bool(services.renderer.mirror_url)
