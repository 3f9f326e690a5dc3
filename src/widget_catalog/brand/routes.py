"""Every route of the brand, all for operators."""

from functools import partial

from widget_contract.version_files import MAX_README_BYTES

from ..core.http.routing import Route, Who, page
from . import api, pages
from .logo import MAX_BYTES
from .pages import BRAND

_API = "/api/brand"
_ONE = _API + "/pages/{slug}"
_PAGE = BRAND + "/pages/{slug}"
# The logo in base64, and everything else.
_MAX_BRAND = 2 * MAX_BYTES + 32_768
# Each byte may take three in a form, and six in JSON.
_MAX_PAGE = 6 * MAX_README_BYTES + 16_384

_route = partial(Route, needs=Who.OPERATOR)
_page = partial(page, needs=Who.OPERATOR)

ROUTES = (
    _route("GET", _API, api.get_brand),
    _route("PUT", _API, api.put_brand, max_body=_MAX_BRAND),
    _route("GET", _ONE, api.get_page),
    _route("PUT", _ONE, api.put_page, max_body=_MAX_PAGE),
    _route("DELETE", _ONE, api.delete_page),
    _page("GET", BRAND, pages.get_brand),
    _page("POST", BRAND, pages.post_brand, max_body=_MAX_BRAND, takes_files=True),
    _page("GET", BRAND + "/page", pages.get_new_page),
    _page("POST", BRAND + "/page", pages.post_new_page, max_body=_MAX_PAGE),
    _page("GET", _PAGE, pages.get_page),
    _page("POST", _PAGE, pages.post_page, max_body=_MAX_PAGE),
    _page("POST", _PAGE + "/delete", pages.post_delete),
)
