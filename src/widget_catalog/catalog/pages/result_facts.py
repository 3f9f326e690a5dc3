"""Facts about search results: why each matches, and the filters that narrow them down."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..search.hits import Matches
from ..search.ranking import Field
from .search_form import SearchForm

_KEYWORDS = 12
_SCOPES = 6
_NAMES = {
    Field.DISPLAY_NAME | Field.NAME: "name",
    Field.SCOPE: "scope",
    Field.KEYWORD: "keywords",
    Field.DESCRIPTION: "description",
    Field.README: "README",
}


class Choice(NamedTuple):
    """A filter, the number of results with it, and the address of the page that has it; if it is
    applied, of the page that does not.
    """

    text: str
    number: int
    address: str
    is_applied: bool


class Facet(NamedTuple):
    title: str
    choices: list[Choice]


def why_it_matches(fields: Field) -> str:
    """Where its words are, as a sentence."""
    named = [text for some, text in _NAMES.items() if fields & some]
    return f"Matches: {', '.join(named) or 'part of a word'}"


def list_facets(
    asked: SearchForm, total: int, found: Matches, address: Callable[[str], str]
) -> list[Facet]:
    """Keywords, scopes and official, each with counts; of one that is applied, all results."""

    def choice(text: str, number: int, name: str, value: object, nothing: object = "") -> Choice:
        is_applied = getattr(asked, name) == value
        change: dict[str, Any] = {name: nothing if is_applied else value, "page": 1}
        return Choice(text, number, address(asked._replace(**change).query()), is_applied)

    def choices(counts: Sequence[tuple[str, int]], name: str, most: int) -> list[Choice]:
        some = list(counts[:most])
        applied = getattr(asked, name)
        if applied and applied not in (text for text, _ in some):
            some[-1:] = [(applied, total)]
        return [choice(text, number, name, text) for text, number in some]

    official = [choice("Official", found.official, "official", True, nothing=False)]
    facets = [
        Facet("Keywords", choices(found.keywords, "keyword", _KEYWORDS)),
        Facet("Scopes", choices(found.scopes, "scope", _SCOPES)),
        Facet("Kind", official if found.official or asked.official else []),
    ]
    return [it for it in facets if it.choices]
