"""Every route for operators that belongs to no other capability, and of the audit log."""

from ..core.actors import Right
from ..core.http.routing import Route, StepUp, Who, page
from . import api
from .pages import accounts, audit, invitations, overview, widgets

_ACCOUNT = accounts.ACCOUNTS + "/{username}"

API = (
    Route("GET", "/api/widgets/{scope}/{name}/audit", api.get_widget_audit, Right.READ_AUDIT),
    Route("GET", "/api/audit", api.get_audit, Who.OPERATOR),
    Route("GET", "/api/organizations/{slug}/audit", api.get_organization_audit, Right.READ_AUDIT),
)

PAGES = (
    page("GET", "/operate", overview.get_overview, Who.OPERATOR),
    page("GET", "/operate/audit", audit.get_audit, Who.OPERATOR),
    page("GET", "/operate/audit.ndjson", audit.get_download, Who.OPERATOR),
    page("GET", accounts.ACCOUNTS, accounts.get_accounts, Who.OPERATOR),
    page("GET", _ACCOUNT, accounts.get_account, Who.OPERATOR),
    page("POST", _ACCOUNT + "/disable", accounts.post_disable, Who.OPERATOR),
    page("POST", _ACCOUNT + "/enable", accounts.post_enable, Who.OPERATOR, step_up=StepUp.FACTOR),
    page("POST", _ACCOUNT + "/promote", accounts.post_promote, Who.OPERATOR, step_up=StepUp.FRESH),
    page("POST", _ACCOUNT + "/demote", accounts.post_demote, Who.OPERATOR, step_up=StepUp.FRESH),
    page(
        "POST",
        _ACCOUNT + "/reset-link",
        accounts.post_reset_link,
        Who.OPERATOR,
        step_up=StepUp.FRESH,
    ),
    page(
        "POST",
        _ACCOUNT + "/second-factor",
        accounts.post_second_factor,
        Who.OPERATOR,
        step_up=StepUp.FRESH,
    ),
    page("POST", _ACCOUNT + "/tokens/{id}", accounts.post_token, Who.OPERATOR),
    page("POST", _ACCOUNT + "/programs/{id}", accounts.post_program, Who.OPERATOR),
    page("GET", invitations.INVITATIONS, invitations.get_invitations, Who.OPERATOR),
    page(
        "POST",
        invitations.INVITATIONS,
        invitations.post_invitation,
        Who.OPERATOR,
        step_up=StepUp.FRESH,
    ),
    page("POST", invitations.INVITATIONS + "/{id}", invitations.post_withdraw, Who.OPERATOR),
    page("GET", "/operate/widgets", widgets.get_widgets, Who.OPERATOR),
)

ROUTES = (*API, *PAGES)
