"""The search page: the form, the results, and links to further pages."""

from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from widget_contract.folding import fold
from widget_contract.names import is_name
from widget_contract.semver import InvalidVersion, SemVer
from widget_contract.wire import WidgetSummary

from ...core.http.content import AnyContent
from ..search.index import Order, Query
from ..views import Views
from .rendered_pages import RenderedPages

_PER_PAGE = 20
_MAX_CHARACTERS = 256
_MAX_FIELDS = 30
_SUGGESTED = 6
_EXACT = 3
_MAX_PERMISSIONS = 40

_SORTS = {
    Order.RELEVANCE: "Best match",
    Order.INSTALLS: "Most installed",
    Order.NEWEST: "Newest",
    Order.UPDATED: "Recently updated",
    Order.NAME: "Name",
}


class SearchForm(NamedTuple):
    """The fields of the form; invalid ones are omitted."""

    q: str = ""
    scope: str = ""
    official: bool = False
    sdk: str = ""
    permission: str = ""
    sort: Order = Order.RELEVANCE
    page: int = 1

    @property
    def has_filter(self) -> bool:
        return bool(self.scope or self.official or self.sdk or self.permission)

    def query(self) -> str:
        """As a query string, without the page; empty fields are omitted."""
        fields = {**self._asdict(), "official": "true" if self.official else "", "page": ""}
        unsaid = ("sort", Order.RELEVANCE)
        return urlencode([it for it in fields.items() if it[1] and it != unsaid])


def parse_search_form(query_string: str) -> SearchForm:
    """Never fails: invalid values are ignored."""
    try:
        pairs = parse_qsl(query_string, errors="replace", max_num_fields=_MAX_FIELDS)
    except ValueError:
        pairs = []
    given: dict[str, str] = {}
    for key, value in pairs:
        given.setdefault(key, " ".join(value.replace("\0", "").split())[:_MAX_CHARACTERS])
    sort, page = given.get("sort", ""), given.get("page", "1")
    return SearchForm(
        q=given.get("q", ""),
        scope=given.get("scope", "").removeprefix("@"),
        official=given.get("official", "").lower() in ("true", "on", "1"),
        sdk=given.get("sdk", ""),
        permission=given.get("permission", ""),
        sort=Order(sort) if sort in list(Order) else Order.RELEVANCE,
        page=int(page) if page.isascii() and page.isdecimal() and int(page[:9]) > 0 else 1,
    )


def parse_sdk(text: str) -> SemVer | None:
    """An SDK version in short form: `1.2` is 1.2.0."""
    text = text.strip().removeprefix("v")
    if text.replace(".", "").isdecimal() and text.count(".") < 2:
        text += ".0" * (2 - text.count("."))
    try:
        return SemVer.parse(text)
    except InvalidVersion:
        return None


class SearchPage:
    def __init__(self, views: Views, pages: RenderedPages) -> None:
        self._views = views
        self._pages = pages
        self._permissions: tuple[int, list[str]] = (-1, [])

    def content(self, query_string: str) -> AnyContent:
        asked = parse_search_form(query_string)
        sdk = parse_sdk(asked.sdk) if asked.sdk else None
        query = Query(
            fold(asked.q),
            # An invalid scope matches nothing.
            (asked.scope if is_name(asked.scope) else "-") if asked.scope else None,
            asked.official or None,
            sdk,
            asked.permission or None,
            asked.sort,
            with_labels=True,
        )
        found = self._views.search(query, sdk, min(asked.page, 10**6), _PER_PAGE)
        is_plain = asked.q and not asked.has_filter and asked.page == 1
        exact = self._views.list_named(asked.q, _EXACT) if is_plain else ()
        revision = self._views.revision()
        shows = (found.tag, revision, exact)

        def values() -> dict[str, Any]:
            results = found.read()
            first = {(it.scope, it.name) for it in exact}
            rest = [it for it in results.widgets if (it.scope, it.name) not in first]
            total = max(results.total, len(exact) + len(rest))
            pages = -(-results.total // _PER_PAGE)
            query = asked.query()
            return {
                "asked": asked,
                "cards": [*exact, *rest],
                "total": total,
                "pages": pages,
                "address": lambda page: self._pages.address(_address(query, page)),
                "numbers": page_numbers(asked.page, pages),
                "near": () if total else self._near(asked),
                "sorts": _SORTS,
                "permissions": self._list_permissions(revision),
                "is_sdk_wrong": bool(asked.sdk) and sdk is None,
            }

        return self._pages.get(f"search {asked!r}", shows, "catalog/search.html", values)

    def _list_permissions(self, revision: int) -> list[str]:
        """Counted again only after a change: this takes longer the more widgets there are."""
        if self._permissions[0] != revision:
            self._permissions = revision, self._views.permissions()[:_MAX_PERMISSIONS]
        return self._permissions[1]

    def _near(self, asked: SearchForm) -> tuple[WidgetSummary, ...]:
        """Suggestions; without the filters, if these exclude everything."""
        if asked.has_filter:
            query = Query(fold(asked.q), with_labels=True)
            return self._views.search(query, None, 1, _SUGGESTED).read().widgets
        text = asked.q.rpartition("/")[2]
        return self._views.list_like(text, _SUGGESTED) if text else ()


def _address(query: str, page: int) -> str:
    fields = [it for it in (query, f"page={page}" if page > 1 else "") if it]
    return f"/search?{'&'.join(fields)}"


def page_numbers(page: int, pages: int) -> list[int | None]:
    """The linked pages: the first, the last, and those around this one; None is a gap."""
    shown = sorted({1, pages, *range(max(page - 2, 1), min(page + 2, pages) + 1)})
    numbers: list[int | None] = []
    for number in shown if pages > 1 else ():
        if numbers and number - (numbers[-1] or 0) > 1:
            numbers.append(None)
        numbers.append(number)
    return numbers
