"""Atom feeds of recent publishes: of the catalog, a scope, or a widget."""

from typing import Any

from widget_contract.names import is_name
from widget_contract.wire import VersionEntry

from ...core.http.content import AnyContent
from ..search.index import Order, Query
from ..views import Views
from .rendered_pages import RenderedPages

_ENTRIES = 30
# The time of an empty feed, because a feed must have one.
_NEVER = "1970-01-01T00:00:00.000Z"


class Feeds:
    def __init__(self, views: Views, pages: RenderedPages) -> None:
        self._views = views
        self._pages = pages

    def latest(self, scope: str | None = None) -> AnyContent | None:
        """The most recently updated widgets; None if there is no such scope."""
        if scope is not None and not is_name(scope):
            return None
        found = self._views.search(Query(scope=scope, order=Order.UPDATED), None, 1, _ENTRIES)

        def values() -> dict[str, Any]:
            widgets = found.read().widgets
            return _feed(
                scope or "",
                f"/scopes/{scope}/feed.atom" if scope else "/feed.atom",
                f"/scopes/{scope}" if scope else "/",
                [it.latest_version for it in widgets if it.latest_version is not None],
            )

        if scope is not None and not found.read().total:
            return None
        shows = (self._views.revision(), scope)
        return self._pages.get(f"feed {scope}", shows, "catalog/feed.xml", values)

    async def widget(self, scope: str, name: str) -> AnyContent | None:
        found = await self._views.find_widget(f"{scope}/{name}")
        if found is None:
            return None

        def values() -> dict[str, Any]:
            detail = found.read()
            path = f"/widgets/{scope}/{name}"
            entries = detail.versions[:_ENTRIES]
            return _feed(detail.widget.display_name, f"{path}/feed.atom", path, entries)

        shows = (self._views.revision(),)
        return self._pages.get(f"feed {scope}/{name}", shows, "catalog/feed.xml", values)


def _feed(title: str, path: str, page: str, entries: Any) -> dict[str, Any]:
    newest: list[VersionEntry] = list(entries)
    updated = max((it.published_at for it in newest), default=_NEVER)
    return {"title": title, "path": path, "page": page, "entries": newest, "updated": updated}
