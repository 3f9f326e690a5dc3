"""Handlers: organizations, their members, and invitations to them."""

import msgspec

from ..accounts.services import AccountServices
from ..accounts.settings import AccountSettings
from ..core.clock import from_ms, iso
from ..core.http.call import Call, done, reply
from ..core.http.http import Response
from ..core.http.services import Services
from .invite_member import (
    answer_invitation,
    invite_member,
    list_open_invitations,
    list_own_invitations,
    withdraw_invitation,
)
from .organize import (
    change_role,
    create_organization,
    end_membership,
    list_own_organizations,
    parse_role,
    show_members,
    show_organization,
    transfer_organization,
)
from .settings import max_owned
from .store import Invitation, Organization

_INVITATION_NOTE = (
    "Somebody without an account cannot use the link yet: they also need an invitation to the "
    "catalog, from an operator."
)


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


def post_organization(services: Services, call: Call) -> Response:
    body = call.json(OrganizationBody)
    is_free = body.allow_reserved and call.actor.is_operator
    made = create_organization(
        services.store,
        call.actor,
        body.slug,
        body.display_name,
        max_owned(services),
        reserved=frozenset() if is_free else services.of(AccountServices).reserved,
    )
    return reply(_shown(made.organization, made.role), status=201)


def get_organizations(services: Services, call: Call) -> Response:
    mine = list_own_organizations(services.store, call.actor)
    return reply({"organizations": [_shown(it.organization, it.role) for it in mine]})


def get_organization(services: Services, call: Call) -> Response:
    slug = call.params["slug"]
    organization, role, members = show_organization(services.store, call.actor, slug)
    shown = [
        {"username": it.username, "role": it.role.value, "since": iso(from_ms(it.since))}
        for it in members
    ]
    return reply({**_shown(organization, role), "members": shown})


def put_settings(services: Services, call: Call) -> Response:
    is_public = call.json(SettingsBody).members_public
    show_members(services.store, call.actor, call.params["slug"], is_public=is_public)
    return done()


def post_invitation(services: Services, call: Call) -> Response:
    body = call.json(InvitationBody)
    invitation, secret = invite_member(
        services.store,
        call.actor,
        call.params["slug"],
        parse_role(body.role),
        username=body.username,
        email=body.email,
    )
    shown = _shown_invitation(invitation)
    if secret is not None:
        place = f"{services.settings.public_url}/invitation"
        shown["link"] = f"{place}?id={invitation.id}&secret={secret}"
        shown["note"] = invitation_note(services)
    return reply(shown, status=201)


def invitation_note(services: Services) -> str | None:
    """What an invitation by link cannot do."""
    return (
        None if services.settings.of(AccountSettings).registration == "open" else _INVITATION_NOTE
    )


def get_organization_invitations(services: Services, call: Call) -> Response:
    found = list_open_invitations(services.store, call.actor, call.params["slug"])
    return reply({"invitations": [_shown_invitation(it) for it in found]})


def delete_invitation(services: Services, call: Call) -> Response:
    withdraw_invitation(services.store, call.actor, call.params["slug"], call.params["id"])
    return done()


def put_member(services: Services, call: Call) -> Response:
    role = parse_role(call.json(RoleBody).role)
    slug, username = call.params["slug"], call.params["username"]
    change_role(services.store, call.actor, slug, username, role, max_owned(services))
    return done()


def delete_member(services: Services, call: Call) -> Response:
    end_membership(services.store, call.actor, call.params["slug"], call.params["username"])
    return done()


def post_transfer(services: Services, call: Call) -> Response:
    username = call.json(UsernameBody).username
    slug = call.params["slug"]
    transfer_organization(services.store, call.actor, slug, username, max_owned(services))
    return done()


def get_invitations(services: Services, call: Call) -> Response:
    found = list_own_invitations(services.store, call.actor)
    return reply({"invitations": [_shown_invitation(it) for it in found]})


def post_accept(services: Services, call: Call) -> Response:
    return _answer(services, call, is_accepted=True)


def post_decline(services: Services, call: Call) -> Response:
    return _answer(services, call, is_accepted=False)


def _answer(services: Services, call: Call, *, is_accepted: bool) -> Response:
    secret = call.json(SecretBody).secret
    id_ = call.params["id"]
    answer_invitation(
        services.store, call.actor, id_, secret, max_owned(services), is_accepted=is_accepted
    )
    return done()


def _shown(organization: Organization, role: object) -> dict[str, object]:
    return {
        "slug": organization.slug,
        "displayName": organization.display_name,
        "role": role,
        "createdAt": iso(from_ms(organization.created_at)),
        "membersPublic": organization.are_members_public,
    }


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
