"""The form of the search page."""

from functools import lru_cache
from typing import NamedTuple
from urllib.parse import parse_qsl, quote_plus

from widget_contract.semver import InvalidVersion, SemVer

from ..catalog.model.query import FACETS, Order

_MAX_CHARACTERS = 256
_MAX_FIELDS = 30
# A page that is cached takes less time than its form.
_REMEMBERED = 1_000
_ORDERS = {str(it): it for it in Order}


class SearchForm(NamedTuple):
    """The fields of the form; invalid ones are omitted."""

    q: str = ""
    scope: str = ""
    official: bool = False
    sdk: str = ""
    permission: str = ""
    keyword: str = ""
    sort: Order = Order.RELEVANCE
    page: int = 1

    @property
    def facets(self) -> tuple[tuple[str, str], ...]:
        """The chosen values, by the name of the facet."""
        return tuple([(it, value) for it in _CHOSEN if (value := getattr(self, it))])

    @property
    def has_filter(self) -> bool:
        return any((self.scope, self.official, self.sdk, self.facets))

    def query(self) -> str:
        """As a query string, without the page; empty fields are omitted."""
        return _query_string(self)


_CHOSEN = [it for it in FACETS if it in SearchForm._fields]


@lru_cache(_REMEMBERED)
def _query_string(form: SearchForm) -> str:
    sort = "" if form.sort is Order.RELEVANCE else form.sort
    fields = {**form._asdict(), "official": form.official and "true", "sort": sort, "page": ""}
    return "&".join([f"{name}={quote_plus(value)}" for name, value in fields.items() if value])


def parse_search_form(query_string: str) -> SearchForm:
    """Never fails: invalid values are ignored."""
    is_short = len(query_string) <= _MAX_CHARACTERS
    return _parse_again(query_string) if is_short else _parse(query_string)


def _parse(query_string: str) -> SearchForm:
    try:
        pairs = parse_qsl(query_string, errors="replace", max_num_fields=_MAX_FIELDS)
    except ValueError:
        pairs = []
    given: dict[str, str] = {}
    for key, value in pairs:
        given.setdefault(key, " ".join(value.replace("\0", "").split())[:_MAX_CHARACTERS])
    page = given.get("page", "1")
    return SearchForm(
        q=given.get("q", ""),
        scope=given.get("scope", "").removeprefix("@"),
        official=given.get("official", "").lower() in ("true", "on", "1"),
        sdk=given.get("sdk", ""),
        permission=given.get("permission", ""),
        keyword=given.get("keyword", "").lower(),
        sort=_ORDERS.get(given.get("sort", ""), Order.RELEVANCE),
        page=int(page) if page.isascii() and page.isdecimal() and int(page[:9]) > 0 else 1,
    )


_parse_again = lru_cache(_REMEMBERED)(_parse)


def parse_sdk(text: str) -> SemVer | None:
    """An SDK version in short form: `1.2` is 1.2.0."""
    text = text.strip().removeprefix("v")
    if text.replace(".", "").isdecimal() and text.count(".") < 2:
        text += ".0" * (2 - text.count("."))
    try:
        return SemVer.parse(text)
    except InvalidVersion:
        return None
