"""Every page for operators."""

from ...accounts.pages import operator_accounts as accounts
from ...accounts.pages import operator_invitations as invitations
from ...accounts.second_factor.rules import StepUp
from ...core.http.routing import AuthMode, Handler, Route, Who
from ...moderation import pages as reports
from ...webhooks import pages as webhooks
from . import audit, overview, scopes, widgets

_ACCOUNT = accounts.ACCOUNTS + "/{username}"


def _page(method: str, path: str, handler: Handler, *, step_up: StepUp = StepUp.NONE) -> Route:
    return Route(method, path, handler, Who.OPERATOR, auth=AuthMode.PAGE, step_up=step_up)


OPERATOR_PAGES = (
    _page("GET", "/operate", overview.get_overview),
    _page("GET", "/operate/audit", audit.get_audit),
    _page("GET", "/operate/audit.ndjson", audit.get_download),
    _page("GET", accounts.ACCOUNTS, accounts.get_accounts),
    _page("GET", _ACCOUNT, accounts.get_account),
    _page("POST", _ACCOUNT + "/disable", accounts.post_disable),
    _page("POST", _ACCOUNT + "/enable", accounts.post_enable, step_up=StepUp.FACTOR),
    _page("POST", _ACCOUNT + "/promote", accounts.post_promote, step_up=StepUp.FRESH),
    _page("POST", _ACCOUNT + "/demote", accounts.post_demote, step_up=StepUp.FRESH),
    _page("POST", _ACCOUNT + "/reset-link", accounts.post_reset_link, step_up=StepUp.FRESH),
    _page("POST", _ACCOUNT + "/second-factor", accounts.post_second_factor, step_up=StepUp.FRESH),
    _page("POST", _ACCOUNT + "/tokens/{id}", accounts.post_token),
    _page("POST", _ACCOUNT + "/programs/{id}", accounts.post_program),
    _page("GET", invitations.INVITATIONS, invitations.get_invitations),
    _page("POST", invitations.INVITATIONS, invitations.post_invitation, step_up=StepUp.FRESH),
    _page("POST", invitations.INVITATIONS + "/{id}", invitations.post_withdraw),
    _page("GET", scopes.SCOPES, scopes.get_scopes),
    _page("POST", scopes.SCOPES + "/reserve", scopes.post_reserve),
    _page("POST", scopes.SCOPES + "/release", scopes.post_release),
    _page("POST", scopes.SCOPES + "/assign", scopes.post_assign, step_up=StepUp.FRESH),
    _page("GET", "/operate/widgets", widgets.get_widgets),
    _page("GET", webhooks.OPERATED, webhooks.get_all_webhooks),
    _page("POST", webhooks.OPERATED, webhooks.post_catalog_webhook, step_up=StepUp.FACTOR),
    _page("GET", reports.REPORTS, reports.get_reports),
    _page("POST", reports.REPORTS + "/{id}/resolve", reports.post_resolve),
    _page("POST", reports.REPORTS + "/{id}/dismiss", reports.post_dismiss),
)
