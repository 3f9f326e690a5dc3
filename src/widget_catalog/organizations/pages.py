"""Pages of organizations: one's own, the management page of one, and invitations to one."""

from collections.abc import Mapping

from ..accounts.pages.own_page import done_page, own_page
from ..accounts.services import AccountServices
from ..accounts.settings import AccountSettings
from ..core.errors import InvalidRequest, NotFound
from ..core.http.call import Call, Paging
from ..core.http.http import Response
from ..core.http.sent_form import CORRECTABLE, NOT_SENT, SentForm, forms_of, take_form
from ..core.http.services import Services
from .api import invitation_note
from .invite_member import (
    answer_invitation,
    invite_member,
    list_own_invitations,
    preview_invitation,
    view_invitation,
    withdraw_invitation,
)
from .organize import (
    change_role,
    create_organization,
    end_membership,
    list_own_organizations,
    parse_role,
    read_organization_audit,
    show_members,
    transfer_organization,
    view_managed_organization,
)
from .settings import max_owned

ORGANIZATIONS = "/account/organizations"
_ENTRIES_PER_PAGE = 50
_CORRECTABLE = (*CORRECTABLE, NotFound)
_DONE = {
    "create": "The organization was created. You are its owner.",
    "invite": "The person was invited. They can see the invitation on their organizations page.",
    "withdraw": "The invitation was revoked.",
    "role": "The role was changed.",
    "remove": "The member was removed.",
    "members-public": "The setting was saved.",
    "leave": "You have left the organization.",
    "transfer": "The organization was transferred. You are now an admin.",
}


def _place(call: Call) -> str:
    return f"{ORGANIZATIONS}/{call.params['slug']}"


def _page(services: Services, call: Call, sent: SentForm) -> Response:
    care = view_managed_organization(services.store, call.actor, call.params["slug"])
    return own_page(
        services,
        call,
        "organizations/organization.html",
        *sent.headers,
        status=sent.status,
        care=care,
        organization=care.organization,
        may={it.name for it in care.rights},
        is_member=any(it.username == call.actor.name for it in care.members),
        place=_place(call),
        sent=sent,
        done=_DONE.get(call.query().get("done", "")),
    )


_form = forms_of(_page, _place, _CORRECTABLE)


def get_organizations(services: Services, call: Call) -> Response:
    return _list_page(services, call, NOT_SENT)


def post_organization(services: Services, call: Call) -> Response:
    def change(fields: Mapping[str, str]) -> None:
        slug, display_name = fields.get("slug", "").strip(), fields.get("display_name", "")
        create_organization(
            services.store,
            call.actor,
            slug,
            display_name,
            max_owned(services),
            reserved=services.of(AccountServices).reserved,
        )

    return take_form(services, call, "create", change, _list_page, ORGANIZATIONS)


def get_organization(services: Services, call: Call) -> Response:
    return _page(services, call, NOT_SENT)


def post_invitation(services: Services, call: Call) -> Response:
    """By name: the person finds it here. By e-mail address: a link, which is shown only once."""
    fields, slug = call.form(), call.params["slug"]
    who = fields.get("who", "").strip().removeprefix("@")
    named = {"email": who} if "@" in who else {"username": who}
    try:
        if not who:
            raise InvalidRequest("Enter a username or an e-mail address.")
        role = parse_role(fields.get("role", ""))
        invitation, secret = invite_member(services.store, call.actor, slug, role, **named)
    except _CORRECTABLE as fault:
        return _page(services, call, SentForm("invite", fields, fault))
    if secret is None:
        return services.renderer.redirect(f"{_place(call)}?done=invite")
    return own_page(
        services,
        call,
        "author/link.html",
        title=f"Invitation to {slug}",
        sentence=f"Send this link to {who}. It can be used once, within a week.",
        note=invitation_note(services),
        link=f"{services.settings.public_url}/invitation?id={invitation.id}&secret={secret}",
        back=_place(call),
    )


@_form("withdraw")
def post_withdraw(services: Services, call: Call, _fields: Mapping[str, str]) -> None:
    withdraw_invitation(services.store, call.actor, call.params["slug"], call.params["id"])


@_form("role")
def post_role(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    slug, username = call.params["slug"], call.params["username"]
    role = parse_role(fields.get("role", ""))
    change_role(services.store, call.actor, slug, username, role, max_owned(services))


@_form("remove")
def post_remove(services: Services, call: Call, _fields: Mapping[str, str]) -> None:
    end_membership(services.store, call.actor, call.params["slug"], call.params["username"])


@_form("members-public")
def post_members_public(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    choice = fields.get("public")
    if choice not in ("yes", "no"):
        raise InvalidRequest("Use the button to change the visibility of members.")
    slug = call.params["slug"]
    show_members(services.store, call.actor, slug, is_public=choice == "yes")


def post_leave(services: Services, call: Call) -> Response:
    def change(fields: Mapping[str, str]) -> None:
        view_managed_organization(services.store, call.actor, call.params["slug"])
        if fields.get("leave") != "yes":
            raise InvalidRequest("Use the button to leave.")
        end_membership(services.store, call.actor, call.params["slug"], call.actor.name)

    return take_form(
        services, call, "leave", change, _page, ORGANIZATIONS, correctable=_CORRECTABLE
    )


@_form("transfer")
def post_transfer(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    slug, username = call.params["slug"], fields.get("username", "").strip().removeprefix("@")
    transfer_organization(services.store, call.actor, slug, username, max_owned(services))


def get_audit(services: Services, call: Call) -> Response:
    page, _ = call.page()
    slug = call.params["slug"]
    found = read_organization_audit(services.store, call.actor, slug, page, _ENTRIES_PER_PAGE)
    entries, total = found
    return own_page(
        services,
        call,
        "author/audit.html",
        key=slug,
        place=_place(call),
        here="organizations",
        entries=entries,
        total=total,
        paging=Paging.of(call, page, _ENTRIES_PER_PAGE, total),
    )


def _list_page(services: Services, call: Call, sent: SentForm) -> Response:
    return own_page(
        services,
        call,
        "organizations/organizations.html",
        *sent.headers,
        status=sent.status,
        organizations=list_own_organizations(services.store, call.actor),
        invitations=list_own_invitations(services.store, call.actor),
        sent=sent,
        done=_DONE.get(call.query().get("done", "")),
    )


def get_invitation(services: Services, call: Call) -> Response:
    if not call.is_signed_in:
        invitation = preview_invitation(services.store, *_named(call))
        if invitation is None:
            return services.renderer.sign_in_first(call.address_here)
        return services.renderer.page(
            "organizations/invited.html",
            invitation=invitation,
            next=call.address_here,
            registration=services.settings.of(AccountSettings).registration,
        )
    invitation = view_invitation(services.store, call.actor, *_named(call))
    return own_page(
        services,
        call,
        "organizations/invitation.html",
        invitation=invitation,
        here=call.address_here,
    )


def post_answer(services: Services, call: Call) -> Response:
    is_accepted = call.form().get("decision") == "accept"
    id_, secret = _named(call)
    organization = answer_invitation(
        services.store, call.actor, id_, secret, max_owned(services), is_accepted=is_accepted
    )
    if is_accepted:
        return done_page(services, call, "Welcome", f"You are now a member of {organization}.")
    return done_page(services, call, "Declined", "Nothing was changed.")


def _named(call: Call) -> tuple[str, str]:
    query = call.query()
    return query.get("id", ""), query.get("secret", "")
