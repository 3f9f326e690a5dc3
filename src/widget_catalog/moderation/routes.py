"""Every route of moderation."""

from functools import partial

from ..core.actors import Right
from ..core.http.routing import AuthMode, Route, StepUp, Who, page
from ..publishing.widget_pages import WIDGETS
from . import api, pages
from .pages import MAX_BODY, REPORT, REPORTS, SCOPES

_VERSION = "/api/widgets/{scope}/{name}/versions/{version}"
_VERSION_PAGE = WIDGETS + "/{scope}/{name}/versions/{version}"

_revoking = partial(page, needs=Right.REVOKE)
_operator = partial(page, needs=Who.OPERATOR)
_visitor = partial(Route, needs=Who.ANYONE, auth=AuthMode.ENTRANCE)

ROUTES = (
    Route("POST", _VERSION + "/revoke", api.post_revoke, Right.REVOKE),
    Route("POST", _VERSION + "/unrevoke", api.post_unrevoke, Right.REVOKE),
    _revoking("POST", _VERSION_PAGE + "/revoke", api.post_revoke_form),
    _revoking("POST", _VERSION_PAGE + "/revoke-everywhere", api.post_everywhere_form),
    _revoking("POST", _VERSION_PAGE + "/unrevoke", api.post_unrevoke_form),
    _operator("GET", SCOPES, pages.get_scopes),
    _operator("POST", SCOPES + "/reserve", pages.post_reserve),
    _operator("POST", SCOPES + "/release", pages.post_release),
    _operator("POST", SCOPES + "/assign", pages.post_assign, step_up=StepUp.FRESH),
    _operator("GET", REPORTS, pages.get_reports),
    _operator("POST", REPORTS + "/{id}/resolve", pages.post_resolve),
    _operator("POST", REPORTS + "/{id}/dismiss", pages.post_dismiss),
    _visitor("GET", REPORT, pages.get_report),
    _visitor("POST", REPORT, pages.post_report, max_body=MAX_BODY),
)
