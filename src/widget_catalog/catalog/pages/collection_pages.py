"""Collections of the operator: their own pages, and the featured ones on the front page."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from markupsafe import Markup

from ...core.http.content import AnyContent
from ..card_picture import Card
from ..operator_content import Collection
from ..views import Views
from .markdown import render_markdown
from .rendered_pages import CollectionsReader, PageRequest, RenderedPages

_MAX_HTML_BYTES = 16_384
# Of each collection on the page of all, and on the front page.
_SHOWN = 3
_FEATURED = 4


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
        collections = await self.find()
        if not collections:
            return None

        def values() -> dict[str, Any]:
            return {"collections": [it for it in map(self._show, collections) if it.total]}

        shows = (collections, *self._numbers())
        template = "catalog/collections.html"
        return self.pages.get("collections", shows, template, values, request.language)

    async def collection(self, request: PageRequest) -> AnyContent | None:
        wanted = request.params["slug"]
        found = [it for it in await self.find() if it.slug == wanted]
        if not found:
            return None

        def values() -> dict[str, Any]:
            return {"collection": self._show(found[0], most=None)}

        shows = (*found, *self._numbers())
        key = f"collection {wanted}"
        return self.pages.get(key, shows, "catalog/collection.html", values, request.language)

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
        """With all widgets and the whole text, or with the first of both."""
        cards = self.views.list_keys(it.widgets)
        text = it.text if most is None else it.text.partition("\n\n")[0]
        return ShownCollection(it.slug, it.title, _html(text), cards[:most], len(cards))

    def _numbers(self) -> tuple[int, str]:
        """They change with everything that cards show."""
        return self.views.revision(), self.views.stats().tag


def count_featured(collections: Sequence[Collection]) -> int:
    """The number of widgets that `feature` shows at most."""
    number = sum(min(len(it.widgets), _SHOWN) for it in collections if it.is_featured)
    return min(number, _FEATURED * _SHOWN)


@lru_cache(maxsize=200)
def _html(text: str) -> Markup:
    """The operator writes it, so it is rendered here, unlike the texts of authors."""
    return Markup(render_markdown((text, _MAX_HTML_BYTES)))  # noqa: S704  Sanitized.
