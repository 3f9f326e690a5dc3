"""Suggestions while somebody types into a search box: a fragment of a page, for its script."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import quote_plus

from widget_contract.names import is_name
from widget_contract.texts import fold

from ..catalog.model.card_picture import Card
from ..catalog.model.query import Query
from ..core.http.content import AnyContent
from ..core.http.public_page import PageRequest
from .rendered_pages import RenderedPages
from .search_form import parse_search_form
from .views import Views

_MOST = 8
_EXACT = 3
_KEYWORDS = 2
# Keywords that are suggested at all: the most frequent ones.
_KNOWN_KEYWORDS = 1_000


class Place(NamedTuple):
    """A list of widgets: those of a keyword, or of a scope."""

    is_keyword: bool
    text: str
    number: int
    address: str


@dataclass
class Suggestions:
    views: Views
    pages: RenderedPages
    _keywords: tuple[int, list[tuple[str, int]]] = field(default=(-1, []))

    async def fragment(self, request: PageRequest) -> AnyContent:
        """A keyword or a scope that the text begins or names, and the first results of the search
        page, in its order; at most eight in all.
        """
        text = parse_search_form(request.query_string).q
        folded = fold(text)
        query = Query(folded, is_ranked=True)
        await self.views.look_up(query)
        found = self.views.search(query, None, 1, _MOST) if text else None
        exact = self.views.list_named(text, _EXACT) if text else ()

        def values() -> dict[str, Any]:
            places = [*self._list_keywords(folded), *self._list_scopes(folded)] if text else []
            names = {(it.scope, it.name) for it in exact}
            rest = found.widgets if found is not None else ()
            cards: list[Card] = [*exact, *(it for it in rest if (it.scope, it.name) not in names)]
            shown = cards[: _MOST - len(places)]
            return {"places": places, "cards": shown, "number": len(places) + len(shown)}

        shows = (None if found is None else found.tag, self.views.revision(), exact)
        return self.pages.get(
            f"suggest {text}", shows, "pages/suggestions.html", values, request.language
        )

    def _list_keywords(self, text: str) -> list[Place]:
        revision = self.views.revision()
        if self._keywords[0] != revision:
            self._keywords = revision, self.views.list_keywords(_KNOWN_KEYWORDS)[0]
        found = [it for it in self._keywords[1] if it[0].startswith(text)]
        return [
            Place(
                is_keyword=True,
                text=word,
                number=number,
                address=self.pages.address(f"/search?keyword={quote_plus(word)}"),
            )
            for word, number in found[:_KEYWORDS]
        ]

    def _list_scopes(self, text: str) -> list[Place]:
        scope = text.removeprefix("@").removesuffix("/")
        if not is_name(scope):
            return []
        number = self.views.search(Query(scope=scope), None, 1, 1).total
        address = self.pages.address(f"/scopes/{scope}")
        found = Place(is_keyword=False, text=scope, number=number, address=address)
        return [found] if number else []
