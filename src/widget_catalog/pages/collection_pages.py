"""Collections of the operator: their own pages, and the featured ones on the front page."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from markupsafe import Markup

from ..catalog.model.card_picture import Card
from ..catalog.model.operator_content import Collection
from ..core.http.content import AnyContent
from .markdown import render_markdown
from .rendered_pages import CollectionsReader, PageRequest, RenderedPages, page_numbers
from .views import Views

T = TypeVar("T")

# On the page of a collection, and where several are shown.
_MAX_HTML_BYTES = 16_384
_MAX_TEASER_BYTES = 1_200
# Of each collection on the page of all, and on the front page.
_SHOWN = 3
_FEATURED = 4
# Keep pages small, even with texts of the largest size.
_WIDGETS_PER_PAGE = 24
_COLLECTIONS_PER_PAGE = 6


class ShownCollection(NamedTuple):
    slug: str
    title: str
    html: Markup
    cards: Sequence[Card]
    total: int
    """Of its listed widgets."""


@dataclass
class CollectionPages:
    views: Views
    pages: RenderedPages
    reader: CollectionsReader | None

    async def find(self) -> tuple[Collection, ...]:
        """All of them, as they were a second ago at most."""
        return (await self.reader.find(None) or ()) if self.reader is not None else ()

    async def index(self, request: PageRequest) -> AnyContent | None:
        """None if there are no collections, which are then mentioned nowhere."""
        collections, page = await self.find(), request.page
        some = _part(collections, page, _COLLECTIONS_PER_PAGE)
        if not some:
            return None

        def values() -> dict[str, Any]:
            shown = [it for it in map(self._show, some) if it.total]
            total = len(collections)
            return {
                "collections": shown,
                **self._pager("/collections", page, total, _COLLECTIONS_PER_PAGE),
            }

        shows = (collections, *self._numbers())
        key, template = f"collections {page}", "pages/collections.html"
        return self.pages.get(key, shows, template, values, request.language)

    async def collection(self, request: PageRequest) -> AnyContent | None:
        wanted, page = request.params["slug"], request.page
        found = [it for it in await self.find() if it.slug == wanted]
        if not found:
            return None
        keys = _part(found[0].widgets, page, _WIDGETS_PER_PAGE)
        if not keys and page > 1:
            return None

        def values() -> dict[str, Any]:
            total = len(found[0].widgets)
            path = f"/collections/{wanted}"
            return {
                "collection": self._show(found[0]._replace(widgets=tuple(keys)), most=None),
                **self._pager(path, page, total, _WIDGETS_PER_PAGE),
            }

        shows = (*found, *self._numbers())
        key = f"collection {wanted} {page}"
        return self.pages.get(key, shows, "pages/collection.html", values, request.language)

    def feature(self, collections: Sequence[Collection]) -> list[ShownCollection]:
        """For the front page. No widget is shown twice."""
        featured: list[ShownCollection] = []
        seen: set[str] = set()
        for it in collections:
            if it.is_featured and len(featured) < _FEATURED:
                fresh = [key for key in it.widgets if key not in seen]
                shown = self._show(it._replace(widgets=tuple(fresh)))
                seen |= {f"{card.scope}/{card.name}" for card in shown.cards}
                featured += [shown] if shown.cards else []
        return featured

    def _show(self, it: Collection, most: int | None = _SHOWN) -> ShownCollection:
        """With all widgets and the whole text, or with the beginning of both."""
        cards = self.views.list_keys(it.widgets)
        if most is None:
            html = _html(it.text, _MAX_HTML_BYTES)
        else:
            html = _html(it.text.partition("\n\n")[0], _MAX_TEASER_BYTES)
        return ShownCollection(it.slug, it.title, html, cards[:most], len(cards))

    def _pager(self, path: str, page: int, total: int, per_page: int) -> dict[str, Any]:
        pages = -(-total // per_page)
        return {
            "page": page,
            "pages": pages,
            "address": lambda to: self.pages.address(f"{path}?page={to}"),
            "numbers": page_numbers(page, pages),
        }

    def _numbers(self) -> tuple[int, str]:
        """They change with everything that cards show."""
        return self.views.revision(), self.views.stats().tag


def _part(items: Sequence[T], page: int, per_page: int) -> Sequence[T]:
    return items[(page - 1) * per_page : page * per_page] if page > 0 else ()


def count_featured(collections: Sequence[Collection]) -> int:
    """The number of widgets that `feature` shows at most."""
    number = sum(min(len(it.widgets), _SHOWN) for it in collections if it.is_featured)
    return min(number, _FEATURED * _SHOWN)


@lru_cache(maxsize=200)
def _html(text: str, most_bytes: int) -> Markup:
    """The operator writes it, so it is rendered here, unlike the texts of authors."""
    return Markup(render_markdown((text, most_bytes)))  # noqa: S704  Sanitized.
