"""Every route of moderation."""

from ..core.http.routing import AuthMode, Route, Who, page
from . import pages as reports
from . import report_page

ROUTES = (
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
