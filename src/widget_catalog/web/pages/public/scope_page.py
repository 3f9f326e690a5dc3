"""The page of a scope: its widgets, and where its registry is."""

from typing import Any

from widget_contract.names import is_name

from ....catalog.large_content import AnyContent
from ....catalog.views import Views
from ....replica.search.index import Order, Query
from .rendered_pages import RenderedPages
from .search_page import page_numbers

_PER_PAGE = 24


class ScopePage:
    def __init__(self, views: Views, pages: RenderedPages) -> None:
        self._views = views
        self._pages = pages

    def content(self, scope: str, page: int) -> AnyContent | None:
        """None if the scope has no listed widget."""
        if not is_name(scope):
            return None
        found = self._views.search(Query(scope=scope, order=Order.INSTALLS), None, page, _PER_PAGE)
        results = found.read()
        if not results.total:
            return None

        def values() -> dict[str, Any]:
            pages = -(-results.total // _PER_PAGE)
            return {
                "scope": scope,
                "cards": results.widgets,
                "total": results.total,
                "page": page,
                "pages": pages,
                "address": lambda to: self._pages.address(f"/scopes/{scope}?page={to}"),
                "numbers": page_numbers(page, pages),
            }

        return self._pages.get(f"scope {scope} {page}", (found.tag,), "scope.html", values)
