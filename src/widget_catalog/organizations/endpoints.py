"""Handlers: organizations, their members, and invitations to them, over the API and on pages. What
both do is in one function.
"""

from collections.abc import Mapping
from functools import partial

import msgspec

from ..accounts.permissions import read_own
from ..accounts.services import AccountServices
from ..accounts.settings import AccountSettings
from ..core.actors import Right
from ..core.clock import from_ms, iso
from ..core.errors import InvalidRequest, NotFound
from ..core.http.call import Call, Paging
from ..core.http.http import Response
from ..core.http.replies import reply
from ..core.http.routing import Route, StepUp, Who, page
from ..core.http.sent_form import (
    CORRECTABLE,
    NOT_SENT,
    SentForm,
    by_api,
    done_page,
    forms_of,
    own_form_page,
    own_page,
)
from ..core.http.services import Services
from . import invite_member as inviting
from . import organize
from .settings import max_owned
from .store import Invitation, Membership, Organization, list_invitations_of

ORGANIZATIONS = "/account/organizations"
_ENTRIES_PER_PAGE = 50
_CORRECTABLE = (*CORRECTABLE, NotFound)
_INVITATION_NOTE = (
    "Somebody without an account cannot use the link yet: they also need an invitation to the "
    "catalog, from an operator."
)
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


class OrganizationBody(msgspec.Struct, rename="camel"):
    slug: str
    display_name: str
    allow_reserved: bool = False  # Only accepted from operators.


class SettingsBody(msgspec.Struct, rename="camel"):
    members_public: bool


class InvitationBody(msgspec.Struct):
    role: str = "member"
    username: str = ""
    email: str = ""


class RoleBody(msgspec.Struct):
    role: str


class UsernameBody(msgspec.Struct):
    username: str


class SecretBody(msgspec.Struct):
    secret: str = ""


def get_organizations(services: Services, call: Call) -> Response:
    mine = organize.list_own_organizations(services.store, call.actor)
    return reply({"organizations": [_shown(*membership) for membership in mine]})


def get_organizations_page(services: Services, call: Call, sent: SentForm = NOT_SENT) -> Response:
    shown = {
        "organizations": organize.list_own_organizations(services.store, call.actor),
        "invitations": read_own(services.store, call.actor, list_invitations_of),
    }
    return own_form_page(services, call, "organizations/organizations.html", sent, _DONE, **shown)


def _list_place(_call: Call) -> str:
    return ORGANIZATIONS


def _create(services: Services, call: Call, given: OrganizationBody) -> Membership:
    is_free = given.allow_reserved and call.actor.is_operator
    reserved = frozenset() if is_free else services.of(AccountServices).reserved
    what = (given.slug, given.display_name, max_owned(services))
    return organize.create_organization(services.store, call.actor, *what, reserved=reserved)


def post_organization(services: Services, call: Call) -> Response:
    made = _create(services, call, call.json(OrganizationBody))
    return reply(_shown(made.organization, made.role), status=201)


@forms_of(get_organizations_page, _list_place)(
    "create", {"": "slug", "username": "slug", "displayName": "display_name"}
)
def post_create(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    slug, display_name = fields.get("slug", "").strip(), fields.get("display_name", "")
    _create(services, call, OrganizationBody(slug, display_name))


def get_organization(services: Services, call: Call) -> Response:
    view = organize.view_organization(services.store, call.actor, call.params["slug"])
    members = [
        {"username": one.username, "role": one.role.value, "since": iso(from_ms(one.since))}
        for one in view.members
    ]
    return reply({**_shown(view.organization, view.role), "members": members})


def get_organization_page(services: Services, call: Call, sent: SentForm = NOT_SENT) -> Response:
    view = organize.view_organization(services.store, call.actor, call.params["slug"])
    shown = {
        "view": view,
        "organization": view.organization,
        "may": {right.name for right in view.rights},
        "is_member": any(member.username == call.actor.name for member in view.members),
        "place": _place(call),
        "sent_member": call.params.get("username"),
    }
    return own_form_page(services, call, "organizations/organization.html", sent, _DONE, **shown)


def _place(call: Call) -> str:
    return f"{ORGANIZATIONS}/{call.params['slug']}"


_form = forms_of(get_organization_page, _place, _CORRECTABLE)


def get_audit(services: Services, call: Call) -> Response:
    slug, page = call.params["slug"], call.page()[0]
    which = (slug, page, _ENTRIES_PER_PAGE)
    entries, total = organize.read_organization_audit(services.store, call.actor, *which)
    shown = {
        "key": slug,
        "place": _place(call),
        "here": "organizations",
        "entries": entries,
        "total": total,
        "paging": Paging.of(call, page, _ENTRIES_PER_PAGE, total),
    }
    return own_page(services, call, "author/audit.html", **shown)


def _show_members(services: Services, call: Call, fields: Mapping[str, bool]) -> None:
    is_public = fields["members_public"]
    organize.show_members(services.store, call.actor, call.params["slug"], is_public=is_public)


@_form("members-public")
def post_members_public(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    choice = fields.get("public")
    if choice not in ("yes", "no"):
        raise InvalidRequest("Use the button to change the visibility of members.")
    _show_members(services, call, {"members_public": choice == "yes"})


def change_role(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    member, role = (call.params["slug"], call.params["username"]), fields.get("role", "")
    what = (*member, organize.parse_role(role), max_owned(services))
    organize.change_role(services.store, call.actor, *what)


def remove_member(services: Services, call: Call, _fields: Mapping[str, str]) -> None:
    slug, username = call.params["slug"], call.params["username"]
    organize.end_membership(services.store, call.actor, slug, username)


@forms_of(get_organization_page, _list_place, _CORRECTABLE)("leave")
def post_leave(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    slug = call.params["slug"]
    organize.view_organization(services.store, call.actor, slug)
    if fields.get("leave") != "yes":
        raise InvalidRequest("Use the button to leave.")
    organize.end_membership(services.store, call.actor, slug, call.actor.name)


def transfer(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    username = fields.get("username", "").strip().removeprefix("@")
    what = (call.params["slug"], username, max_owned(services))
    organize.transfer_organization(services.store, call.actor, *what)


post_transfer = _form("transfer", {"": "username"})(transfer)


def get_organization_invitations(services: Services, call: Call) -> Response:
    slug = call.params["slug"]
    return _invitations(inviting.list_open_invitations(services.store, call.actor, slug))


def _invite(
    services: Services, call: Call, given: InvitationBody
) -> tuple[Invitation, str | None, str | None]:
    """The invitation; if it is by link, the link, and what it cannot do."""
    slug, role = call.params["slug"], organize.parse_role(given.role)
    whom = {"username": given.username, "email": given.email}
    invitation, secret = inviting.invite_member(services.store, call.actor, slug, role, **whom)
    if secret is None:
        return invitation, None, None
    link = f"{services.settings.public_url}/invitation?id={invitation.id}&secret={secret}"
    return invitation, link, None if services.of(AccountServices).is_open else _INVITATION_NOTE


def post_invitation(services: Services, call: Call) -> Response:
    invitation, link, note = _invite(services, call, call.json(InvitationBody))
    by_link = {} if link is None else {"link": link, "note": note}
    return reply({**_shown_invitation(invitation), **by_link}, status=201)


@_form("invite", {"": "who", "username": "who", "email": "who"})
def post_invite(services: Services, call: Call, fields: Mapping[str, str]) -> Response | None:
    """By name: the person finds it here. By e-mail address: a link, which is shown only once."""
    who = fields.get("who", "").strip().removeprefix("@")
    if not who:
        raise InvalidRequest("Enter a username or an e-mail address.")
    named = {"email": who} if "@" in who else {"username": who}
    _, link, note = _invite(services, call, InvitationBody(fields.get("role", ""), **named))
    if link is None:
        return None
    shown = {
        "title": f"Invitation to {call.params['slug']}",
        "sentence": f"Send this link to {who}. It can be used once, within a week.",
        "note": note,
        "link": link,
        "back": _place(call),
    }
    return own_page(services, call, "author/link.html", **shown)


def withdraw(services: Services, call: Call, _fields: Mapping[str, str]) -> None:
    slug, id_ = call.params["slug"], call.params["id"]
    inviting.withdraw_invitation(services.store, call.actor, slug, id_)


def get_invitations(services: Services, call: Call) -> Response:
    return _invitations(read_own(services.store, call.actor, list_invitations_of))


def _response(services: Services, call: Call, id_: str, secret: str, *, is_accepted: bool) -> str:
    what = (id_, secret, max_owned(services))
    return inviting.answer_invitation(services.store, call.actor, *what, is_accepted=is_accepted)


def _by_id(is_accepted: bool, services: Services, call: Call, fields: Mapping[str, str]) -> None:
    _response(services, call, call.params["id"], fields["secret"], is_accepted=is_accepted)


def get_invitation(services: Services, call: Call) -> Response:
    """The page where an invitation to an organization is accepted or declined."""
    here, which = call.address_here, _which(call)
    if call.is_signed_in:
        invitation = inviting.view_invitation(services.store, call.actor, *which)
        template = "organizations/invitation.html"
        return own_page(services, call, template, invitation=invitation, here=here)
    preview = inviting.preview_invitation(services.store, *which)
    if preview is None:
        return services.renderer.sign_in_first(here)
    registration = services.settings.of(AccountSettings).registration
    return services.renderer.page(
        "organizations/invited.html", invitation=preview, next=here, registration=registration
    )


def post_answer(services: Services, call: Call) -> Response:
    is_accepted = call.form().get("decision") == "accept"
    organization = _response(services, call, *_which(call), is_accepted=is_accepted)
    if is_accepted:
        return done_page(services, call, "Welcome", f"You are now a member of {organization}.")
    return done_page(services, call, "Declined", "Nothing was changed.")


def _which(call: Call) -> tuple[str, str]:
    query = call.query()
    return query.get("id", ""), query.get("secret", "")


def _shown(organization: Organization, role: object) -> dict[str, object]:
    return {
        "slug": organization.slug,
        "displayName": organization.display_name,
        "role": role,
        "createdAt": iso(from_ms(organization.created_at)),
        "membersPublic": organization.are_members_public,
    }


def _invitations(found: list[Invitation]) -> Response:
    return reply({"invitations": [_shown_invitation(invitation) for invitation in found]})


def _shown_invitation(invitation: Invitation) -> dict[str, object]:
    return {
        "id": invitation.id,
        "organization": invitation.organization,
        "username": invitation.username,
        "email": invitation.email,
        "role": invitation.role,
        "invitedBy": invitation.invited_by,
        "expiresAt": iso(from_ms(invitation.expires_at)),
    }


_API = "/api/organizations/{slug}"
_PAGE = ORGANIZATIONS + "/{slug}"
_MEMBER = _PAGE + "/members/{username}"

_person = partial(Route, needs=Who.PERSON)
_members = partial(Route, needs=Right.MANAGE_MEMBERS)
_own = partial(Route, needs=Right.OWN)
_members_form = partial(page, "POST", needs=Right.MANAGE_MEMBERS)
_factor = StepUp.FACTOR

ROUTES = (
    _person("GET", "/api/organizations", get_organizations),
    _person("POST", "/api/organizations", post_organization, step_up=_factor),
    Route("GET", _API, get_organization, Right.VIEW),
    _members("GET", _API + "/invitations", get_organization_invitations),
    _members("POST", _API + "/invitations", post_invitation, step_up=_factor),
    _members("DELETE", _API + "/invitations/{id}", by_api(withdraw)),
    _members("PUT", _API + "/members/{username}", by_api(change_role, RoleBody), step_up=_factor),
    _members("DELETE", _API + "/members/{username}", by_api(remove_member), step_up=_factor),
    _own("PUT", _API + "/settings", by_api(_show_members, SettingsBody)),
    _own("POST", _API + "/transfer", by_api(transfer, UsernameBody), step_up=_factor),
    _person("GET", "/api/invitations", get_invitations),
    _person("POST", "/api/invitations/{id}/accept", by_api(partial(_by_id, True), SecretBody)),
    _person("POST", "/api/invitations/{id}/decline", by_api(partial(_by_id, False), SecretBody)),
    page("GET", ORGANIZATIONS, get_organizations_page, Who.PERSON),
    page("POST", ORGANIZATIONS, post_create, Who.PERSON, step_up=_factor),
    page("GET", _PAGE, get_organization_page, Right.VIEW),
    page("GET", _PAGE + "/audit", get_audit, Right.READ_AUDIT),
    _members_form(_PAGE + "/invitations", post_invite, step_up=_factor),
    _members_form(_PAGE + "/invitations/{id}", _form("withdraw")(withdraw)),
    _members_form(_MEMBER, _form("role")(change_role), step_up=_factor),
    _members_form(_MEMBER + "/remove", _form("remove")(remove_member), step_up=_factor),
    page("POST", _PAGE + "/members-public", post_members_public, Right.OWN),
    page("POST", _PAGE + "/leave", post_leave, Right.VIEW, step_up=_factor),
    page("POST", _PAGE + "/transfer", post_transfer, Right.OWN, step_up=_factor),
    page("GET", "/invitation", get_invitation, Who.ANYONE),
    page("POST", "/invitation", post_answer, Who.PERSON),
)
