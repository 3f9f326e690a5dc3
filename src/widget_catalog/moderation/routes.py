"""Every route of moderation."""

from ..core.actors import Right
from ..core.http.routing import AuthMode, Route, StepUp, Who, page
from ..publishing.widget_pages import WIDGETS
from . import api, report_page, revoke_pages
from . import pages as reports
from . import scope_pages as scopes

_VERSION = "/api/widgets/{scope}/{name}/versions/{version}"
_VERSION_PAGE = WIDGETS + "/{scope}/{name}/versions/{version}"

ROUTES = (
    Route("POST", _VERSION + "/revoke", api.post_revoke, Right.REVOKE),
    Route("POST", _VERSION + "/unrevoke", api.post_unrevoke, Right.REVOKE),
    page("POST", _VERSION_PAGE + "/revoke", revoke_pages.post_revoke, Right.REVOKE),
    page(
        "POST",
        _VERSION_PAGE + "/revoke-everywhere",
        revoke_pages.post_revoke_everywhere,
        Right.REVOKE,
    ),
    page("POST", _VERSION_PAGE + "/unrevoke", revoke_pages.post_unrevoke, Right.REVOKE),
    page("GET", scopes.SCOPES, scopes.get_scopes, Who.OPERATOR),
    page("POST", scopes.SCOPES + "/reserve", scopes.post_reserve, Who.OPERATOR),
    page("POST", scopes.SCOPES + "/release", scopes.post_release, Who.OPERATOR),
    page("POST", scopes.SCOPES + "/assign", scopes.post_assign, Who.OPERATOR, step_up=StepUp.FRESH),
    page("GET", reports.REPORTS, reports.get_reports, Who.OPERATOR),
    page("POST", reports.REPORTS + "/{id}/resolve", reports.post_resolve, Who.OPERATOR),
    page("POST", reports.REPORTS + "/{id}/dismiss", reports.post_dismiss, Who.OPERATOR),
    Route("GET", report_page.REPORT, report_page.get_report, Who.ANYONE, auth=AuthMode.ENTRANCE),
    Route(
        "POST",
        report_page.REPORT,
        report_page.post_report,
        Who.ANYONE,
        report_page.MAX_BODY,
        AuthMode.ENTRANCE,
    ),
)
