"""Every route of moderation."""

from functools import partial

from ..core.actors import Right
from ..core.http.routing import AuthMode, Route, StepUp, Who, page
from ..publishing.widget_pages import WIDGETS
from . import endpoints
from .endpoints import MAX_BODY, REPORT, REPORTS, SCOPES

_VERSION = "/api/widgets/{scope}/{name}/versions/{version}"
_VERSION_PAGE = WIDGETS + "/{scope}/{name}/versions/{version}"

_revoking = partial(page, needs=Right.REVOKE)
_operator = partial(page, needs=Who.OPERATOR)
_visitor = partial(Route, needs=Who.ANYONE, auth=AuthMode.ANONYMOUS_PAGE)

ROUTES = (
    Route("POST", _VERSION + "/revoke", endpoints.post_revoke, Right.REVOKE),
    Route("POST", _VERSION + "/unrevoke", endpoints.post_unrevoke, Right.REVOKE),
    _revoking("POST", _VERSION_PAGE + "/revoke", endpoints.post_revoke_form),
    _revoking("POST", _VERSION_PAGE + "/revoke-everywhere", endpoints.post_everywhere_form),
    _revoking("POST", _VERSION_PAGE + "/unrevoke", endpoints.post_unrevoke_form),
    _operator("GET", SCOPES, endpoints.get_scopes),
    _operator("POST", SCOPES + "/reserve", endpoints.post_reserve),
    _operator("POST", SCOPES + "/release", endpoints.post_release),
    _operator("POST", SCOPES + "/assign", endpoints.post_assign, step_up=StepUp.FRESH),
    _operator("GET", REPORTS, endpoints.get_reports),
    _operator("POST", REPORTS + "/{id}/resolve", endpoints.post_resolve),
    _operator("POST", REPORTS + "/{id}/dismiss", endpoints.post_dismiss),
    _visitor("GET", REPORT, endpoints.get_report),
    _visitor("POST", REPORT, endpoints.post_report, max_body=MAX_BODY),
)
