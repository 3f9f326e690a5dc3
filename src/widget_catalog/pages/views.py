"""Views: the catalog as typed values, for pages; the same data as in the API."""

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

import msgspec

from widget_contract.capabilities import Permission, may_be_narrowed, requested
from widget_contract.names import is_name
from widget_contract.semver import SemVer
from widget_contract.texts import fold
from widget_contract.wire import Stats, VersionEntry, WidgetDetail

from ..catalog.model.card_picture import Card, CardResults
from ..catalog.model.query import Query, SearchRequest
from ..catalog.model.tokens import query_tokens
from ..catalog.reading.catalog import CatalogReader
from ..catalog.reading.version_details import VersionExtras
from ..catalog.search.scoring import Matches
from ..core.http.content import AnyContent

T = TypeVar("T")

# Of an unknown name.
_MAX_COMPARED_CHARACTERS, _MAX_WORDS = 40, 3
# Widgets per part when all are listed.
_PART_OF_ALL = 1_000

_decode_stats = msgspec.json.Decoder(Stats).decode
_decode_detail = msgspec.json.Decoder(WidgetDetail).decode


class View(NamedTuple, Generic[T]):
    """An API response, decoded on demand."""

    content: AnyContent
    decode: Callable[[bytes], T]

    @property
    def tag(self) -> str:
        """Changes with the value, and is cheap to compare."""
        return self.content.tag

    def read(self) -> T:
        return self.decode(self.content.body)


class _ManifestExtras(msgspec.Struct):
    manifest: msgspec.Raw


_decode_manifest = msgspec.json.Decoder(_ManifestExtras).decode


class Views:
    """Reads like the API, from the same caches, on the same thread."""

    def __init__(self, catalog: CatalogReader) -> None:
        self._catalog = catalog

    def stats(self) -> View[Stats]:
        return View(self._catalog.stats(), _decode_stats)

    def search(self, query: Query, sdk: SemVer | None, page: int, limit: int) -> CardResults:
        asked = SearchRequest(query, sdk, str(page), limit, is_for_pages=True)
        return self._catalog.card_page(asked)

    async def find_widget(self, key: str) -> View[WidgetDetail] | None:
        """The listed widget with this `scope/name`, of any size."""
        content = self._catalog.detail(key)
        return None if content is None else View(content, _decode_detail)

    def revision(self) -> int:
        """A number that changes with everything except counts."""
        return self._catalog.revision

    def list_named(self, text: str, most: int) -> tuple[Card, ...]:
        """The listed widgets that a text names exactly: by `scope/name`, `@scope/name`, or the
        name alone."""
        scope, slash, name = text.strip().lower().removeprefix("@").partition("/")
        if not slash:
            scope, name = "", scope
        if not is_name(name) or (slash and not is_name(scope)):
            return ()
        if scope:
            return self.list_keys([f"{scope}/{name}"])
        index = self._catalog.index
        index.refresh()  # Most downloaded first.
        return self._catalog.cards(index.list_named(name)[:most])

    def list_keys(self, keys: Sequence[str]) -> tuple[Card, ...]:
        """The listed ones of these widgets, `scope/name`, in the same order."""
        found = map(self._catalog.find_listed, keys)
        return self._catalog.cards([it for it in found if it is not None])

    async def look_up(self, query: Query) -> None:
        """What a search for these words takes most of its time for, in small steps."""
        await self._catalog.look_up(query)

    async def list_like(self, name: str, most: int) -> tuple[Card, ...]:
        """Widgets with names similar to one that does not exist, then those with its words. Anybody
        may ask for any name, so only the beginning of a long one and its longest words are used.
        """
        folded = fold(name[:_MAX_COMPARED_CHARACTERS])
        words = sorted((it for it in query_tokens(folded) if len(it) > 1), key=len)[-_MAX_WORDS:]
        query = Query(" ".join(words), is_ranked=True)
        await self.look_up(query)
        near = self._catalog.cards(self._catalog.index.list_like(folded, most))
        found = self.search(query, None, 1, most).widgets if words and len(near) < most else ()
        return tuple({it.id: it for it in (*near, *found)}.values())[:most]

    def correct(self, text: str) -> str | None:
        """A text of a search with the words that are found in place of unknown ones; None if there
        are none.
        """
        return self._catalog.index.correct(fold(text))

    def count_matches(self, query: Query) -> Matches:
        """The results of a page's search in numbers."""
        return self._catalog.index.count_matches(query)

    def list_keywords(self, most: int) -> tuple[list[tuple[str, int]], int]:
        """The most frequent keywords, and how many widgets have each; and the number of all."""
        return self._catalog.index.list_keywords(most)

    def explain(self, text: str, widgets: Sequence[Card]) -> list[int]:
        """The set of `Field`s of each of these widgets with a word of this text."""
        return self._catalog.index.explain(fold(text), [it.id for it in widgets])

    def list_values(self, facet: str) -> list[str]:
        """The values that widgets have of a facet, most frequent first."""
        return self._catalog.index.list_values(facet)

    def find_version(self, scope: str, name: str, version: str) -> VersionExtras:
        """Data of a listed version that is not in its entry; nothing if it is not listed."""
        return self._catalog.find_extras(f"{scope}/{name}", version) or VersionExtras()

    def requested(self, version: VersionEntry) -> tuple[Permission, ...]:
        """The permissions of a listed version, with its capabilities in full."""
        if not may_be_narrowed(version.permissions):
            return tuple(dict.fromkeys(version.permissions))
        content = self._catalog.version(f"{version.scope}/{version.name}/{version.version}")
        manifest = None if content is None else bytes(_decode_manifest(content.body).manifest)
        return requested(version.permissions, manifest)

    def list_revoked(self, scope: str, name: str) -> Mapping[str, str]:
        """The revoked versions of this widget, each with the reason."""
        return self._catalog.list_revoked(scope, name)

    def find_number(self, key: str) -> int | None:
        """The number of the widget with this `scope/name`, listed or not."""
        return self._catalog.find_id(key)

    def list_addresses(self, part: int) -> list[tuple[str, str, int]]:
        """Scope, name and time of the latest release of the listed widgets in a part, by number."""
        first = part * _PART_OF_ALL + 1
        rows = self._catalog.reader.list_index_rows(range(first, first + _PART_OF_ALL))
        return [(it.scope, it.name, it.released_ms or it.created_ms) for it in rows]

    def count_parts(self) -> int:
        return -(-self._catalog.reader.highest_id() // _PART_OF_ALL)
