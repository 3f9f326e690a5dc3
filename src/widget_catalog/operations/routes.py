"""Every route for operators that belongs to no other capability, and of the audit log."""

from ..core.actors import Right
from ..core.http.routing import Route, StepUp, Who, page
from . import accounts, audit, catalog

_ACCOUNT = accounts.ACCOUNTS + "/{username}"
_INVITATIONS = accounts.INVITATIONS
_FACTOR, _FRESH = StepUp.FACTOR, StepUp.FRESH
_BY = Who.OPERATOR

API = (
    Route("GET", "/api/widgets/{scope}/{name}/audit", audit.get_widget_audit, Right.READ_AUDIT),
    Route("GET", "/api/audit", audit.get_audit, _BY),
    Route("GET", "/api/organizations/{slug}/audit", audit.get_organization_audit, Right.READ_AUDIT),
)

PAGES = (
    page("GET", "/operate", catalog.get_overview, _BY),
    page("GET", "/operate/audit", audit.get_audit_page, _BY),
    page("GET", "/operate/audit.ndjson", audit.get_download, _BY),
    page("GET", accounts.ACCOUNTS, accounts.get_accounts, _BY),
    page("GET", _ACCOUNT, accounts.get_account, _BY),
    page("POST", _ACCOUNT + "/disable", accounts.post_disable, _BY),
    page("POST", _ACCOUNT + "/enable", accounts.post_enable, _BY, step_up=_FACTOR),
    page("POST", _ACCOUNT + "/promote", accounts.post_promote, _BY, step_up=_FRESH),
    page("POST", _ACCOUNT + "/demote", accounts.post_demote, _BY, step_up=_FRESH),
    page("POST", _ACCOUNT + "/reset-link", accounts.post_reset_link, _BY, step_up=_FRESH),
    page("POST", _ACCOUNT + "/second-factor", accounts.post_second_factor, _BY, step_up=_FRESH),
    page("POST", _ACCOUNT + "/tokens/{id}", accounts.post_token, _BY),
    page("POST", _ACCOUNT + "/programs/{id}", accounts.post_program, _BY),
    page("GET", _INVITATIONS, accounts.get_invitations, _BY),
    page("POST", _INVITATIONS, accounts.post_invitation, _BY, step_up=_FRESH),
    page("POST", _INVITATIONS + "/{id}", accounts.post_withdraw, _BY),
    page("GET", "/operate/widgets", catalog.get_widgets, _BY),
)

ROUTES = (*API, *PAGES)
