"""Every route of collections, all for operators."""

from functools import partial

from ..core.http.routing import Route, Who, page
from . import api, pages
from .pages import COLLECTIONS

_API = "/api/collections"
_ONE = _API + "/{slug}"
_PAGE = COLLECTIONS + "/{slug}"
# A text of 2,000 characters, each of which may take 12 bytes in a form; 100 widgets.
_MAX_BODY = 65_536

_route = partial(Route, needs=Who.OPERATOR, max_body=_MAX_BODY)
_page = partial(page, needs=Who.OPERATOR, max_body=_MAX_BODY)

ROUTES = (
    _route("GET", _API, api.get_collections),
    _route("POST", _API, api.post_collection),
    _route("GET", _ONE, api.get_collection),
    _route("PUT", _ONE, api.put_collection),
    _route("DELETE", _ONE, api.delete_collection),
    _route("POST", _ONE + "/move", api.post_move),
    _page("GET", COLLECTIONS, pages.get_collections),
    _page("POST", COLLECTIONS, pages.post_collection),
    _page("GET", _PAGE, pages.get_collection),
    _page("POST", _PAGE, pages.post_details),
    _page("POST", _PAGE + "/widgets", pages.post_widgets),
    _page("POST", _PAGE + "/move", pages.post_move),
    _page("GET", _PAGE + "/delete", pages.get_delete),
    _page("POST", _PAGE + "/delete", pages.post_delete),
)
