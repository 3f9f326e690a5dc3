"""Every route of organizations: the internal API, and the pages."""

from functools import partial

from ..core.actors import Right
from ..core.http.routing import Route, StepUp, Who, page
from . import endpoints

_API = "/api/organizations/{slug}"
_PAGES = endpoints.ORGANIZATIONS
_PAGE = _PAGES + "/{slug}"

_person = partial(Route, needs=Who.PERSON)
_members = partial(Route, needs=Right.MANAGE_MEMBERS)
_own = partial(Route, needs=Right.OWN)
_members_page = partial(page, needs=Right.MANAGE_MEMBERS)
_factor = StepUp.FACTOR

API = (
    _person("GET", "/api/organizations", endpoints.get_organizations),
    _person("POST", "/api/organizations", endpoints.post_organization, step_up=_factor),
    Route("GET", _API, endpoints.get_organization, Right.VIEW),
    _members("GET", _API + "/invitations", endpoints.get_organization_invitations),
    _members("POST", _API + "/invitations", endpoints.post_invitation, step_up=_factor),
    _members("DELETE", _API + "/invitations/{id}", endpoints.delete_invitation),
    _members("PUT", _API + "/members/{username}", endpoints.put_member, step_up=_factor),
    _members("DELETE", _API + "/members/{username}", endpoints.delete_member, step_up=_factor),
    _own("PUT", _API + "/settings", endpoints.put_settings),
    _own("POST", _API + "/transfer", endpoints.post_transfer, step_up=_factor),
    _person("GET", "/api/invitations", endpoints.get_invitations),
    _person("POST", "/api/invitations/{id}/accept", endpoints.post_accept),
    _person("POST", "/api/invitations/{id}/decline", endpoints.post_decline),
)

PAGES = (
    page("GET", _PAGES, endpoints.get_organizations_page, Who.PERSON),
    page("POST", _PAGES, endpoints.post_create, Who.PERSON, step_up=_factor),
    page("GET", _PAGE, endpoints.get_organization_page, Right.VIEW),
    page("GET", _PAGE + "/audit", endpoints.get_audit, Right.READ_AUDIT),
    _members_page("POST", _PAGE + "/invitations", endpoints.post_invite, step_up=_factor),
    _members_page("POST", _PAGE + "/invitations/{id}", endpoints.post_withdraw),
    _members_page("POST", _PAGE + "/members/{username}", endpoints.post_role, step_up=_factor),
    _members_page(
        "POST", _PAGE + "/members/{username}/remove", endpoints.post_remove, step_up=_factor
    ),
    page("POST", _PAGE + "/members-public", endpoints.post_members_public, Right.OWN),
    page("POST", _PAGE + "/leave", endpoints.post_leave, Right.VIEW, step_up=_factor),
    page("POST", _PAGE + "/transfer", endpoints.post_transfer_form, Right.OWN, step_up=_factor),
    page("GET", "/invitation", endpoints.get_invitation, Who.ANYONE),
    page("POST", "/invitation", endpoints.post_answer, Who.PERSON),
)

ROUTES = (*API, *PAGES)
