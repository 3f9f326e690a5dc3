"""Views: the catalog as typed values, for pages: the shapes that the API sends as bytes."""

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

import msgspec

from widget_contract.semver import SemVer
from widget_contract.wire import SearchResults, Stats, WidgetDetail

from ..replica.search.index import Query
from .catalog import Catalog
from .large_content import AnyContent

T = TypeVar("T")

_decode_stats = msgspec.json.Decoder(Stats).decode
_decode_results = msgspec.json.Decoder(SearchResults).decode
_decode_detail = msgspec.json.Decoder(WidgetDetail).decode


class View(NamedTuple, Generic[T]):
    """What the API answers, to be read as a value."""

    content: AnyContent
    decode: Callable[[bytes], T]

    @property
    def tag(self) -> str:
        """It changes with the value, and costs nothing to look at."""
        return self.content.tag

    def read(self) -> T:
        return self.decode(self.content.body)


class Views:
    """Reads as the API does, from the same caches, on the same thread."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def stats(self) -> View[Stats]:
        return View(self._catalog.stats(), _decode_stats)

    def search(
        self, query: Query, sdk: SemVer | None, page: int, limit: int
    ) -> View[SearchResults]:
        return View(self._catalog.search(query, sdk, str(page), limit), _decode_results)

    async def find_widget(self, key: str) -> View[WidgetDetail] | None:
        """The listed widget with this `scope/name`, however large it is."""
        content = await self._catalog.load_detail(key)
        return None if content is None else View(content, _decode_detail)
