"""Pages that list widgets: the front page, search, and the page of a scope."""

from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from widget_contract.folding import fold
from widget_contract.names import is_name
from widget_contract.semver import InvalidVersion, SemVer

from ...core.http.content import AnyContent
from ..card_picture import Card, CardResults
from ..query import NO_SCOPE, Order, Query
from ..store.scopes import Member
from ..views import View, Views
from .rendered_pages import MembersReader, PageRequest, RenderedPages, page_numbers

_ON_FRONT_PAGE = 6
_LISTS = {
    "popular": Query(),
    "new": Query(order=Order.UPDATED),
    "official": Query(official=True, order=Order.INSTALLS),
}

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

_OF_SCOPE_PER_PAGE = 24
# Keeps the page of a large organization small.
_MAX_MEMBERS = 40


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


@dataclass
class ListingPages:
    views: Views
    pages: RenderedPages
    members: MembersReader | None
    _permissions: tuple[int, list[str]] = (-1, [])

    async def front_page(self, _: PageRequest) -> AnyContent:
        """No widget is shown twice. Rendered again only if the numbers or the widgets shown have
        changed.
        """
        stats = self.views.stats()
        # Enough of each list to leave out what the lists before it show.
        lists = {
            name: self.views.search(it, None, 1, number * _ON_FRONT_PAGE)
            for number, (name, it) in enumerate(_LISTS.items(), 1)
        }

        def values() -> dict[str, Any]:
            shown: set[tuple[str, str]] = set()
            values: dict[str, Any] = {"stats": stats.read()}
            for name, found in lists.items():
                new = [it for it in found.read().widgets if (it.scope, it.name) not in shown]
                values[name] = new[:_ON_FRONT_PAGE]
                shown |= {(it.scope, it.name) for it in values[name]}
            return values

        shows = (stats.tag, *(it.tag for it in lists.values()))
        return self.pages.get("front", shows, "catalog/front_page.html", values)

    async def static_search(self, _: PageRequest) -> AnyContent:
        """The form of a static site, whose script searches."""
        return self.pages.get("search", (), "catalog/static_search.html", dict)

    async def search(self, request: PageRequest) -> AnyContent:
        asked = parse_search_form(request.query_string)
        sdk = parse_sdk(asked.sdk) if asked.sdk else None
        query = Query(
            fold(asked.q),
            (asked.scope if is_name(asked.scope) else NO_SCOPE) if asked.scope else None,
            asked.official or None,
            sdk,
            asked.permission or None,
            asked.sort,
            with_labels=True,
        )
        found = self.views.search(query, sdk, min(asked.page, 10**6), _PER_PAGE)
        is_plain = asked.q and not asked.has_filter and asked.page == 1
        exact = self.views.list_named(asked.q, _EXACT) if is_plain else ()
        revision = self.views.revision()
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
                "address": lambda page: self.pages.address(_search_address(query, page)),
                "numbers": page_numbers(asked.page, pages),
                "near": () if total else self._near(asked),
                "sorts": _SORTS,
                "permissions": self._list_permissions(revision),
                "is_sdk_wrong": bool(asked.sdk) and sdk is None,
            }

        return self.pages.get(f"search {asked!r}", shows, "catalog/search.html", values)

    def _list_permissions(self, revision: int) -> list[str]:
        """Counted again only after a change: this takes longer the more widgets there are."""
        if self._permissions[0] != revision:
            self._permissions = revision, self.views.permissions()[:_MAX_PERMISSIONS]
        return self._permissions[1]

    def _near(self, asked: SearchForm) -> tuple[Card, ...]:
        """Suggestions; without the filters, if these exclude everything."""
        if asked.has_filter:
            query = Query(fold(asked.q), with_labels=True)
            return self.views.search(query, None, 1, _SUGGESTED).read().widgets
        text = asked.q.rpartition("/")[2]
        return self.views.list_like(text, _SUGGESTED) if text else ()

    async def scope(self, request: PageRequest) -> AnyContent | None:
        """Its widgets and its public members. None if the scope has no listed widget."""
        scope, page = request.params["scope"], request.page
        if not is_name(scope):
            return None
        found = self._list_scope(scope, page, _OF_SCOPE_PER_PAGE)
        results = found.read()
        if not results.total:
            return None
        members = (await self.members.find(scope) or ()) if self.members is not None else ()

        def values() -> dict[str, Any]:
            pages = -(-results.total // _OF_SCOPE_PER_PAGE)
            return {
                "scope": scope,
                "cards": results.widgets,
                "total": results.total,
                "members": [self._shown(it) for it in members[:_MAX_MEMBERS]],
                "member_count": len(members),
                "page": page,
                "pages": pages,
                "address": lambda to: self.pages.address(f"/scopes/{scope}?page={to}"),
                "numbers": page_numbers(page, pages),
            }

        # Which members have a page depends on all scopes.
        shows = (found.tag, members, self.views.revision() if members else None)
        return self.pages.get(f"scope {scope} {page}", shows, "catalog/scope.html", values)

    def _shown(self, member: Member) -> dict[str, Any]:
        has_page = self._list_scope(member.username, 1, 1).read().total > 0
        return {"username": member.username, "role": member.role, "has_page": has_page}

    def _list_scope(self, scope: str, page: int, limit: int) -> View[CardResults]:
        return self.views.search(Query(scope=scope, order=Order.INSTALLS), None, page, limit)


def _search_address(query: str, page: int) -> str:
    fields = [it for it in (query, f"page={page}" if page > 1 else "") if it]
    return f"/search?{'&'.join(fields)}"
