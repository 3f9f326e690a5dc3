"""Every route of organizations: the internal API, and the pages."""

from ..core.actors import Right
from ..core.http.routing import Route, StepUp, Who, page
from . import api, pages
from . import invitation_pages as invitations

_API = "/api/organizations/{slug}"
_ORGANIZATION = pages.ORGANIZATIONS + "/{slug}"

API = (
    Route("GET", "/api/organizations", api.get_organizations, Who.PERSON),
    Route(
        "POST",
        "/api/organizations",
        api.post_organization,
        Who.PERSON,
        step_up=StepUp.FACTOR,
    ),
    Route("GET", _API, api.get_organization, Right.VIEW),
    Route(
        "GET",
        _API + "/invitations",
        api.get_organization_invitations,
        Right.MANAGE_MEMBERS,
    ),
    Route(
        "POST",
        _API + "/invitations",
        api.post_invitation,
        Right.MANAGE_MEMBERS,
        step_up=StepUp.FACTOR,
    ),
    Route(
        "DELETE",
        _API + "/invitations/{id}",
        api.delete_invitation,
        Right.MANAGE_MEMBERS,
    ),
    Route(
        "PUT",
        _API + "/members/{username}",
        api.put_member,
        Right.MANAGE_MEMBERS,
        step_up=StepUp.FACTOR,
    ),
    Route(
        "DELETE",
        _API + "/members/{username}",
        api.delete_member,
        Right.MANAGE_MEMBERS,
        step_up=StepUp.FACTOR,
    ),
    Route("PUT", _API + "/settings", api.put_settings, Right.OWN),
    Route(
        "POST",
        _API + "/transfer",
        api.post_transfer,
        Right.OWN,
        step_up=StepUp.FACTOR,
    ),
    Route("GET", "/api/invitations", api.get_invitations, Who.PERSON),
    Route("POST", "/api/invitations/{id}/accept", api.post_accept, Who.PERSON),
    Route("POST", "/api/invitations/{id}/decline", api.post_decline, Who.PERSON),
)

PAGES = (
    page("GET", pages.ORGANIZATIONS, pages.get_organizations, Who.PERSON),
    page(
        "POST",
        pages.ORGANIZATIONS,
        pages.post_organization,
        Who.PERSON,
        step_up=StepUp.FACTOR,
    ),
    page("GET", _ORGANIZATION, pages.get_organization, Right.VIEW),
    page("GET", _ORGANIZATION + "/audit", pages.get_audit, Right.READ_AUDIT),
    page(
        "POST",
        _ORGANIZATION + "/invitations",
        pages.post_invitation,
        Right.MANAGE_MEMBERS,
        step_up=StepUp.FACTOR,
    ),
    page(
        "POST",
        _ORGANIZATION + "/invitations/{id}",
        pages.post_withdraw,
        Right.MANAGE_MEMBERS,
    ),
    page(
        "POST",
        _ORGANIZATION + "/members/{username}",
        pages.post_role,
        Right.MANAGE_MEMBERS,
        step_up=StepUp.FACTOR,
    ),
    page(
        "POST",
        _ORGANIZATION + "/members/{username}/remove",
        pages.post_remove,
        Right.MANAGE_MEMBERS,
        step_up=StepUp.FACTOR,
    ),
    page("POST", _ORGANIZATION + "/members-public", pages.post_members_public, Right.OWN),
    page(
        "POST",
        _ORGANIZATION + "/leave",
        pages.post_leave,
        Right.VIEW,
        step_up=StepUp.FACTOR,
    ),
    page(
        "POST",
        _ORGANIZATION + "/transfer",
        pages.post_transfer,
        Right.OWN,
        step_up=StepUp.FACTOR,
    ),
    page("GET", "/invitation", invitations.get_invitation, Who.ANYONE),
    page("POST", "/invitation", invitations.post_invitation, Who.PERSON),
)

ROUTES = (*API, *PAGES)
