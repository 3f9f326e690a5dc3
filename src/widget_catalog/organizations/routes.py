"""Every route of organizations: the internal API, and the pages."""

from functools import partial

from ..core.actors import Right
from ..core.http.routing import Route, StepUp, Who, page
from . import api, pages

_API = "/api/organizations/{slug}"
_PAGES = pages.ORGANIZATIONS
_PAGE = _PAGES + "/{slug}"

_person = partial(Route, needs=Who.PERSON)
_members = partial(Route, needs=Right.MANAGE_MEMBERS)
_own = partial(Route, needs=Right.OWN)
_members_page = partial(page, needs=Right.MANAGE_MEMBERS)
_factor = StepUp.FACTOR

API = (
    _person("GET", "/api/organizations", api.get_organizations),
    _person("POST", "/api/organizations", api.post_organization, step_up=_factor),
    Route("GET", _API, api.get_organization, Right.VIEW),
    _members("GET", _API + "/invitations", api.get_organization_invitations),
    _members("POST", _API + "/invitations", api.post_invitation, step_up=_factor),
    _members("DELETE", _API + "/invitations/{id}", api.delete_invitation),
    _members("PUT", _API + "/members/{username}", api.put_member, step_up=_factor),
    _members("DELETE", _API + "/members/{username}", api.delete_member, step_up=_factor),
    _own("PUT", _API + "/settings", api.put_settings),
    _own("POST", _API + "/transfer", api.post_transfer, step_up=_factor),
    _person("GET", "/api/invitations", api.get_invitations),
    _person("POST", "/api/invitations/{id}/accept", api.post_accept),
    _person("POST", "/api/invitations/{id}/decline", api.post_decline),
)

PAGES = (
    page("GET", _PAGES, pages.get_organizations, Who.PERSON),
    page("POST", _PAGES, pages.post_organization, Who.PERSON, step_up=_factor),
    page("GET", _PAGE, pages.get_organization, Right.VIEW),
    page("GET", _PAGE + "/audit", pages.get_audit, Right.READ_AUDIT),
    _members_page("POST", _PAGE + "/invitations", pages.post_invitation, step_up=_factor),
    _members_page("POST", _PAGE + "/invitations/{id}", pages.post_withdraw),
    _members_page("POST", _PAGE + "/members/{username}", pages.post_role, step_up=_factor),
    _members_page("POST", _PAGE + "/members/{username}/remove", pages.post_remove, step_up=_factor),
    page("POST", _PAGE + "/members-public", pages.post_members_public, Right.OWN),
    page("POST", _PAGE + "/leave", pages.post_leave, Right.VIEW, step_up=_factor),
    page("POST", _PAGE + "/transfer", pages.post_transfer, Right.OWN, step_up=_factor),
    page("GET", "/invitation", pages.get_invitation, Who.ANYONE),
    page("POST", "/invitation", pages.post_answer, Who.PERSON),
)

ROUTES = (*API, *PAGES)
