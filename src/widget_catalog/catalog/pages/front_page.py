"""The front page: introduction, statistics, new and popular widgets."""

from typing import Any

from ...core.http.content import AnyContent
from ..search.index import Order, Query
from ..views import Views
from .rendered_pages import RenderedPages

_SHOWN = 6
_POPULAR = Query()
_NEW = Query(order=Order.UPDATED)
_OFFICIAL = Query(official=True, order=Order.INSTALLS)


class FrontPage:
    """Rendered again only if the numbers or the widgets shown have changed."""

    def __init__(self, views: Views, pages: RenderedPages) -> None:
        self._views = views
        self._pages = pages

    def content(self) -> AnyContent:
        stats = self._views.stats()
        popular, new, official = (
            self._views.search(query, None, 1, _SHOWN) for query in (_POPULAR, _NEW, _OFFICIAL)
        )

        def values() -> dict[str, Any]:
            return {
                "stats": stats.read(),
                "popular": popular.read().widgets,
                "new": new.read().widgets,
                "official": official.read().widgets,
            }

        shows = (stats.tag, popular.tag, new.tag, official.tag)
        return self._pages.get("front", shows, "catalog/front_page.html", values)
