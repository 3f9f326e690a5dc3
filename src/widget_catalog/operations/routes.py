"""Every route for operators that belongs to no other capability, and of the audit log."""

from ..core.actors import Right
from ..core.http.routing import Route, StepUp, Who, page
from . import api
from .pages import audit, overview, scopes, widgets

API = (
    Route("GET", "/api/widgets/{scope}/{name}/audit", api.get_widget_audit, Right.READ_AUDIT),
    Route("GET", "/api/audit", api.get_audit, Who.OPERATOR),
    Route("GET", "/api/organizations/{slug}/audit", api.get_organization_audit, Right.READ_AUDIT),
)

PAGES = (
    page("GET", "/operate", overview.get_overview, Who.OPERATOR),
    page("GET", "/operate/audit", audit.get_audit, Who.OPERATOR),
    page("GET", "/operate/audit.ndjson", audit.get_download, Who.OPERATOR),
    page("GET", "/operate/widgets", widgets.get_widgets, Who.OPERATOR),
    page("GET", scopes.SCOPES, scopes.get_scopes, Who.OPERATOR),
    page("POST", scopes.SCOPES + "/reserve", scopes.post_reserve, Who.OPERATOR),
    page("POST", scopes.SCOPES + "/release", scopes.post_release, Who.OPERATOR),
    page("POST", scopes.SCOPES + "/assign", scopes.post_assign, Who.OPERATOR, step_up=StepUp.FRESH),
)

ROUTES = (*API, *PAGES)
