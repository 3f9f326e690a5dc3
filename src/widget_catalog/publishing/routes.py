"""Every route for authors: the internal API, and the pages."""

from widget_contract.manifests import MAX_MANIFEST_TEXT_BYTES

from ..core.actors import Right
from ..core.http.routing import Route, StepUp, Who, page
from ..core.http.sent_form import by_api
from . import api, publish_pages, widget_pages
from .preparing import prepare_confirmation, prepare_form, prepare_preview, prepare_request

_WIDGET = "/api/widgets/{scope}/{name}"
_VERSION = _WIDGET + "/versions/{version}"
_WIDGET_PAGE = widget_pages.WIDGETS + "/{scope}/{name}"
_VERSION_PAGE = _WIDGET_PAGE + "/versions/{version}"
_PENDING = publish_pages.PUBLISH + "/{id}"
# Inside the request's JSON, every escape sequence of the manifest is escaped again.
_MANIFEST_AND_MORE = 2 * MAX_MANIFEST_TEXT_BYTES

API = (
    Route("GET", "/api/widgets/scopes", api.get_scopes, Who.SIGNED_IN),
    Route(
        "POST",
        "/api/widgets/publish",
        api.post_publish,
        Right.PUBLISH,
        max_body=_MANIFEST_AND_MORE,
        step_up=StepUp.FACTOR,
        prepares=prepare_request,
    ),
    Route("GET", _WIDGET, api.get_widget, Right.VIEW),
    Route("POST", _WIDGET + "/official", api.post_official, Right.MAKE_OFFICIAL),
    Route("GET", _WIDGET + "/publishers", api.get_publishers, Right.VIEW),
    Route(
        "PUT",
        _WIDGET + "/publishers",
        api.put_publishers,
        Right.NAME_PUBLISHERS,
        step_up=StepUp.FACTOR,
    ),
    *(
        Route("POST", f"{_WIDGET}/{change.name}", by_api(change.make, change.body), change.right)
        for change in api.WIDGET_CHANGES
    ),
    *(
        Route("POST", f"{_VERSION}/{change.name}", by_api(change.make, change.body), change.right)
        for change in api.VERSION_CHANGES
    ),
)

PAGES = (
    page("GET", widget_pages.WIDGETS, widget_pages.get_widgets, Who.PERSON),
    page("GET", _WIDGET_PAGE, widget_pages.get_widget, Right.VIEW),
    page("POST", _WIDGET_PAGE + "/official", widget_pages.post_official, Right.MAKE_OFFICIAL),
    page(
        "POST",
        _WIDGET_PAGE + "/publishers",
        widget_pages.post_publishers,
        Right.NAME_PUBLISHERS,
        step_up=StepUp.FACTOR,
    ),
    page("GET", _WIDGET_PAGE + "/audit", widget_pages.get_audit, Right.READ_AUDIT),
    page("GET", _VERSION_PAGE, widget_pages.get_version, Right.VIEW),
    *(
        page(
            "POST",
            f"{_WIDGET_PAGE}/{change.name}",
            widget_pages.widget_handler_of(change),
            change.right,
        )
        for change in api.WIDGET_CHANGES
    ),
    *(
        page(
            "POST",
            f"{_VERSION_PAGE}/{change.name}",
            widget_pages.version_handler_of(change),
            change.right,
        )
        for change in api.VERSION_CHANGES
    ),
    page("GET", publish_pages.PUBLISH, publish_pages.get_publish, Who.PERSON),
    page(
        "POST",
        publish_pages.PUBLISH,
        publish_pages.post_publish,
        Who.PERSON,
        takes_files=True,
        prepares=prepare_form,
    ),
    page("GET", _PENDING, publish_pages.get_pending, Who.PERSON, prepares=prepare_preview),
    page(
        "POST",
        _PENDING,
        publish_pages.post_pending,
        Who.PERSON,
        step_up=StepUp.FACTOR,
        prepares=prepare_confirmation,
    ),
    page("POST", _PENDING + "/discard", publish_pages.post_discard, Who.PERSON),
    page("GET", _PENDING + "/index.js", publish_pages.get_bundle, Who.PERSON),
    page("GET", _PENDING + "/index.css", publish_pages.get_style, Who.PERSON),
    page("GET", _PENDING + "/screenshots/{file}", publish_pages.get_picture, Who.PERSON),
)

ROUTES = (*API, *PAGES)
