"""Every route for authors: the internal API, and the pages."""

from ..core.actors import Right
from ..core.http.routing import Route, StepUp, Who, page
from . import api
from . import widget_api as widgets
from .pages import publishing as publish_pages
from .pages import versions as version_pages
from .pages import widgets as widget_pages

_WIDGET = "/api/widgets/{scope}/{name}"
_VERSION = _WIDGET + "/versions/{version}"
_WIDGET_PAGE = widget_pages.WIDGETS + "/{scope}/{name}"
_VERSION_PAGE = _WIDGET_PAGE + "/versions/{version}"
_PENDING = publish_pages.PUBLISH + "/{id}"
_MANIFEST_AND_MORE = 262_144

API = (
    Route("GET", "/api/widgets/scopes", api.get_scopes, Who.SIGNED_IN),
    Route(
        "POST",
        "/api/widgets/publish",
        api.post_publish,
        Right.PUBLISH,
        max_body=_MANIFEST_AND_MORE,
        step_up=StepUp.FACTOR,
    ),
    Route("GET", _WIDGET, widgets.get_widget, Right.VIEW),
    Route("POST", _VERSION + "/yank", widgets.post_yank, Right.YANK),
    Route("POST", _VERSION + "/unyank", widgets.post_unyank, Right.YANK),
    Route("POST", _VERSION + "/deprecate", widgets.post_deprecate, Right.DEPRECATE),
    Route("POST", _VERSION + "/undeprecate", widgets.post_undeprecate, Right.DEPRECATE),
    Route("POST", _WIDGET + "/list", widgets.post_list, Right.LIST),
    Route("POST", _WIDGET + "/unlist", widgets.post_unlist, Right.LIST),
    Route("POST", _WIDGET + "/official", widgets.post_official, Right.MAKE_OFFICIAL),
    Route("GET", _WIDGET + "/publishers", widgets.get_widget_publishers, Right.VIEW),
    Route(
        "PUT",
        _WIDGET + "/publishers",
        widgets.put_publishers,
        Right.NAME_PUBLISHERS,
        step_up=StepUp.FACTOR,
    ),
)

PAGES = (
    page("GET", widget_pages.WIDGETS, widget_pages.get_widgets, Who.PERSON),
    page("GET", _WIDGET_PAGE, widget_pages.get_widget, Right.VIEW),
    page("POST", _WIDGET_PAGE + "/list", widget_pages.post_list, Right.LIST),
    page("POST", _WIDGET_PAGE + "/unlist", widget_pages.post_unlist, Right.LIST),
    page("POST", _WIDGET_PAGE + "/official", widget_pages.post_official, Right.MAKE_OFFICIAL),
    page(
        "POST",
        _WIDGET_PAGE + "/publishers",
        widget_pages.post_publishers,
        Right.NAME_PUBLISHERS,
        step_up=StepUp.FACTOR,
    ),
    page("GET", _WIDGET_PAGE + "/audit", widget_pages.get_audit, Right.READ_AUDIT),
    page("GET", _VERSION_PAGE, version_pages.get_version, Right.VIEW),
    page("POST", _VERSION_PAGE + "/yank", version_pages.post_yank, Right.YANK),
    page("POST", _VERSION_PAGE + "/unyank", version_pages.post_unyank, Right.YANK),
    page("POST", _VERSION_PAGE + "/deprecate", version_pages.post_deprecate, Right.DEPRECATE),
    page("POST", _VERSION_PAGE + "/undeprecate", version_pages.post_undeprecate, Right.DEPRECATE),
    page("GET", publish_pages.PUBLISH, publish_pages.get_publish, Who.PERSON),
    page("POST", publish_pages.PUBLISH, publish_pages.post_publish, Who.PERSON, takes_files=True),
    page("GET", _PENDING, publish_pages.get_pending, Who.PERSON),
    page("POST", _PENDING, publish_pages.post_pending, Who.PERSON, step_up=StepUp.FACTOR),
    page("POST", _PENDING + "/discard", publish_pages.post_discard, Who.PERSON),
    page("GET", _PENDING + "/index.js", publish_pages.get_bundle, Who.PERSON),
    page("GET", _PENDING + "/index.css", publish_pages.get_style, Who.PERSON),
)

ROUTES = (*API, *PAGES)
