"""Collections on public pages: their own pages, and the featured ones on the front page."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from markupsafe import Markup

from ..catalog.model.card_picture import Card
from ..core.http.content import AnyContent
from ..core.http.public_page import FrontSection, PageRequest, PublicPart, PublicRoute
from ..core.languages.language import Language
from ..pages.context import PublicContext
from ..pages.markdown import render_markdown
from ..pages.rendered_pages import page_numbers
from ..pages.store_reads import StoreReads
from .store import Collection, read_collections

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


class CollectionsReader(StoreReads[None, tuple[Collection, ...]]):
    """The collections of the operator."""

    kept_s = 1.0


class CollectionPages(PublicPart):
    def __init__(self, context: PublicContext) -> None:
        self._pages = context.pages
        self._views = context.views
        self._headers = context.panel
        self._reader = CollectionsReader(
            context.access.bind(lambda store, _: read_collections(store))
        )

    def list_routes(self) -> Sequence[PublicRoute]:
        return [
            PublicRoute("/collections", self._index, self._headers),
            PublicRoute("/collections/{slug}", self._collection, self._headers),
        ]

    async def list_paths(self) -> Mapping[str, int]:
        found = {f"/collections/{it.slug}": len(it.widgets) for it in await self._find()}
        return {"/collections": len(found)} | found if found else {}

    async def _find(self) -> tuple[Collection, ...]:
        """All of them, as they were a second ago at most."""
        return await self._reader.find(None) or ()

    async def _index(self, request: PageRequest) -> AnyContent | None:
        """None if there are no collections, which are then mentioned nowhere."""
        collections, page = await self._find(), request.page
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
        key, template = f"collections {page}", "collections/public/collections.html"
        return self._pages.get(key, shows, template, values, request.language)

    async def _collection(self, request: PageRequest) -> AnyContent | None:
        wanted, page = request.params["slug"], request.page
        found = [it for it in await self._find() if it.slug == wanted]
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
        key, template = f"collection {wanted} {page}", "collections/public/collection.html"
        return self._pages.get(key, shows, template, values, request.language)

    async def find_section(self) -> FrontSection | None:
        collections = await self._find()
        most = sum(min(len(it.widgets), _SHOWN) for it in collections if it.is_featured)

        def write(language: Language) -> tuple[Markup, set[str]]:
            featured = self._feature(collections)
            html = self._pages.fragment(
                "collections/public/featured.html",
                language,
                collections=featured,
                count=len(collections),
            )
            return html, {f"{it.scope}/{it.name}" for shown in featured for it in shown.cards}

        return (
            FrontSection(collections, min(most, _FEATURED * _SHOWN), write) if collections else None
        )

    def _feature(self, collections: Sequence[Collection]) -> list[ShownCollection]:
        """No widget is shown twice."""
        featured: list[ShownCollection] = []
        seen: set[str] = set()
        for collection in collections:
            if collection.is_featured and len(featured) < _FEATURED:
                fresh = [key for key in collection.widgets if key not in seen]
                shown = self._show(collection._replace(widgets=tuple(fresh)))
                seen |= {f"{card.scope}/{card.name}" for card in shown.cards}
                featured += [shown] if shown.cards else []
        return featured

    def _show(self, collection: Collection, most: int | None = _SHOWN) -> ShownCollection:
        """With all widgets and the whole text, or with the beginning of both."""
        slug, title, text, keys, _ = collection
        cards = self._views.list_keys(keys)
        if most is None:
            html = _html(text, _MAX_HTML_BYTES)
        else:
            html = _html(text.partition("\n\n")[0], _MAX_TEASER_BYTES)
        return ShownCollection(slug, title, html, cards[:most], len(cards))

    def _pager(self, path: str, page: int, total: int, per_page: int) -> dict[str, Any]:
        pages = -(-total // per_page)
        return {
            "page": page,
            "pages": pages,
            "address": lambda to: self._pages.address(f"{path}?page={to}"),
            "numbers": page_numbers(page, pages),
        }

    def _numbers(self) -> tuple[int, str]:
        """They change with everything that cards show."""
        return self._views.revision(), self._views.stats().tag


def _part(items: Sequence[T], page: int, per_page: int) -> Sequence[T]:
    return items[(page - 1) * per_page : page * per_page] if page > 0 else ()


@lru_cache(maxsize=200)
def _html(text: str, most_bytes: int) -> Markup:
    """The operator writes it, so it is rendered here, unlike the texts of authors."""
    return Markup(render_markdown((text, most_bytes)))  # noqa: S704  Sanitized.
