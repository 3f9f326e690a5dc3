"""Pages that list widgets: the front page, search, and the page of a scope."""

import asyncio
from collections.abc import Sequence
from functools import cache
from typing import Any
from urllib.parse import quote_plus

from markupsafe import Markup

from widget_contract.names import is_name
from widget_contract.texts import fold

from ..catalog.model.card_picture import Card, CardResults
from ..catalog.model.query import NO_SCOPE, Order, Query
from ..catalog.store.installs import read_trending
from ..catalog.store.scopes import PublicMember, find_public_members
from ..core.http.content import AnyContent
from ..core.http.public_page import FrontSection, PageRequest, PublicPart
from ..core.languages.language import N_, Language
from .context import PublicContext
from .rendered_pages import page_numbers
from .result_facts import Choice, show_facets, show_options, why_it_matches
from .search_form import SearchForm, parse_sdk, parse_search_form
from .store_reads import MembersReader, TrendingReader

_ON_FRONT_PAGE = 6
_LISTS = {
    "popular": Query(),
    "new": Query(order=Order.UPDATED),
    "official": Query(official=True, order=Order.INSTALLS),
}

_PER_PAGE = 20
_SUGGESTED = 6
_EXACT = 3
_MAX_PERMISSIONS = 40
_POPULAR_KEYWORDS = 12
# Of the page of all keywords.
_MAX_KEYWORDS = 400
_SORTS = {
    Order.RELEVANCE: N_("Best match"),
    Order.INSTALLS: N_("Most installed"),
    Order.NEWEST: N_("Newest"),
    Order.UPDATED: N_("Recently updated"),
    Order.NAME: N_("Name"),
}

_ROLES = {"owner": N_("owner"), "admin": N_("admin"), "member": N_("member")}
_OF_SCOPE_PER_PAGE = 24
# Keeps the page of a large organization small.
_MAX_MEMBERS = 40


class ListingPages:
    def __init__(self, context: PublicContext, parts: Sequence[PublicPart]) -> None:
        self._pages = context.pages
        self._views = context.views
        self._parts = parts
        access = context.access
        self._members = MembersReader(access.bind(find_public_members))
        self._trending = TrendingReader(access.bind(lambda store, _: read_trending(store)))
        self._counted: tuple[int, list[tuple[str, str]], list[Choice]] = (-1, [], [])

    async def front_page(self, request: PageRequest) -> AnyContent:
        """No widget is shown twice. Rendered again only if the numbers or the widgets shown have
        changed.
        """
        # Each takes a while after a change, in a step of its own: the other is then remembered.
        self._count(self._views.revision())
        await asyncio.sleep(0)
        stats, revision = self._views.stats(), self._views.revision()
        self._trending.begin(None)
        sections = [it for it in [await part.find_section() for part in self._parts] if it]
        trending = await self._trending.find(None) or ()
        above = sum(it.most for it in sections) + min(len(trending), _ON_FRONT_PAGE)
        # Enough of each list to leave out what the lists before it show.
        lists = {
            name: self._views.search(query, None, 1, above + number * _ON_FRONT_PAGE)
            for number, (name, query) in enumerate(_LISTS.items(), 1)
        }

        def values() -> dict[str, Any]:
            written, shown = _write(sections, request.language)
            values: dict[str, Any] = {
                "page_path": "/",
                "stats": stats.read(),
                "keywords": self._count(revision)[2],
                "sections": written,
                "has_sections": bool(shown),
            }
            candidates = {"trending": self._views.list_keys(trending)}
            candidates |= {name: it.widgets for name, it in lists.items()}
            first = candidates["popular"][:1]
            values["example"] = f"{first[0].scope}/{first[0].name}" if first else "catalog/clock"
            for name, found in candidates.items():
                new = [it for it in found if f"{it.scope}/{it.name}" not in shown]
                # Trending ones are three or six, to fill the rows.
                is_short = name == "trending" and len(new) < _ON_FRONT_PAGE
                values[name] = new[: _ON_FRONT_PAGE // 2 if is_short else _ON_FRONT_PAGE]
                shown |= {f"{it.scope}/{it.name}" for it in values[name]}
            return values

        tags = (it.tag for it in lists.values())
        shows = (stats.tag, revision, *(it.shows for it in sections), trending, *tags)
        return self._pages.get("front", shows, "pages/front_page.html", values, request.language)

    async def static_search(self, request: PageRequest) -> AnyContent:
        """The form of a static site, whose script searches."""
        template = "pages/static_search.html"
        return self._pages.get("search", (), template, dict, request.language)

    async def search(self, request: PageRequest) -> AnyContent:
        asked = parse_search_form(request.query_string)
        sdk = parse_sdk(asked.sdk) if asked.sdk else None
        query = Query(
            fold(asked.q),
            (asked.scope if is_name(asked.scope) else NO_SCOPE) if asked.scope else None,
            asked.official or None,
            sdk,
            asked.facets,
            asked.sort,
            is_ranked=True,
        )
        await self._views.look_up(query)
        found = self._views.search(query, sdk, min(asked.page, 10**6), _PER_PAGE)
        is_plain = asked.q and not asked.has_filter and asked.page == 1
        exact = self._views.list_named(asked.q, _EXACT) if is_plain else ()
        revision = self._views.revision()
        shows = (found.tag, revision, exact)

        language = request.language

        def values() -> dict[str, Any]:
            first = {(it.scope, it.name) for it in exact}
            rest = [it for it in found.widgets if (it.scope, it.name) not in first]
            total = max(found.total, len(exact) + len(rest))
            pages = -(-found.total // _PER_PAGE)
            cards = [*exact, *rest]
            counted = self._views.count_matches(query)
            corrected = self._views.correct(asked.q) if asked.q else None
            why = self._views.explain(asked.q, cards) if asked.q else ()
            every = self._pages.address("/keywords")
            facts = (asked, total, counted, self._search_address, every, language)
            fields = asked.query()
            return {
                "asked": asked,
                "cards": cards,
                "why": [why_it_matches(language, it) for it in why],
                "facets": show_facets(*facts) if cards else "",
                "are_partial": counted.are_partial,
                "corrected": corrected,
                "corrected_address": corrected
                and self._search_address(f"q={quote_plus(corrected)}"),
                "keywords": () if cards else self._count(revision)[2],
                "total": total,
                "pages": pages,
                "address": lambda page: self._search_address(fields, page),
                "numbers": page_numbers(asked.page, pages),
                "near": () if total else self._near(asked),
                "sorts": show_options(_sorts(language), asked.sort),
                "permissions": show_options(
                    (("", language.gettext("any")), *self._count(revision)[1]), asked.permission
                ),
                "is_sdk_wrong": bool(asked.sdk) and sdk is None,
            }

        key = f"search {asked.page} {asked.query()}"
        return self._pages.get(key, shows, "pages/search.html", values, language)

    def _count(self, revision: int) -> tuple[int, list[tuple[str, str]], list[Choice]]:
        """The permissions and the popular keywords, counted again only after a change: this takes
        longer the more widgets there are.
        """
        if self._counted[0] != revision:
            keywords = [*map(self._keyword, self._views.list_keywords(_POPULAR_KEYWORDS)[0])]
            permissions = self._views.list_values("permission")[:_MAX_PERMISSIONS]
            self._counted = revision, [(it, it) for it in permissions], keywords
        return self._counted

    def _near(self, asked: SearchForm) -> tuple[Card, ...]:
        """Where filters exclude everything, the results without them."""
        if not asked.has_filter or not asked.q:
            return ()
        query = Query(fold(asked.q), is_ranked=True)
        return self._views.search(query, None, 1, _SUGGESTED).widgets

    async def keywords(self, request: PageRequest) -> AnyContent:
        """All keywords with the number of their widgets, by name."""

        def values() -> dict[str, Any]:
            every, total = self._views.list_keywords(_MAX_KEYWORDS)
            shown = sorted(map(self._keyword, every))
            return {"page_path": "/keywords", "total": total, "keywords": shown}

        shows = (self._views.revision(),)
        template, language = "pages/keywords.html", request.language
        return self._pages.get("keywords", shows, template, values, language)

    def _keyword(self, counted: tuple[str, int]) -> Choice:
        address = self._search_address(f"keyword={quote_plus(counted[0])}")
        return Choice(*counted, address, is_applied=False)

    def _search_address(self, query: str, page: int = 1) -> str:
        fields = [it for it in (query, f"page={page}" if page > 1 else "") if it]
        return self._pages.address(f"/search?{'&'.join(fields)}" if fields else "/search")

    async def scope(self, request: PageRequest) -> AnyContent | None:
        """Its widgets and its public members. None if the scope has no listed widget."""
        scope, page = request.params["scope"], request.page
        if not is_name(scope):
            return None
        found = self._list_scope(scope, page, _OF_SCOPE_PER_PAGE)
        if not found.total:
            return None
        members = await self._members.find(scope) or ()

        def values() -> dict[str, Any]:
            pages = -(-found.total // _OF_SCOPE_PER_PAGE)
            return {
                "page_path": f"/scopes/{scope}" if page == 1 else "",
                "scope": scope,
                "cards": found.widgets,
                "total": found.total,
                "members": [self._shown(it, request.language) for it in members[:_MAX_MEMBERS]],
                "member_count": len(members),
                "page": page,
                "pages": pages,
                "address": lambda to: self._pages.address(f"/scopes/{scope}?page={to}"),
                "numbers": page_numbers(page, pages),
            }

        # Which members have a page depends on all scopes.
        shows = (found.tag, members, self._views.revision() if members else None)
        key, template = f"scope {scope} {page}", "pages/scope.html"
        return self._pages.get(key, shows, template, values, request.language)

    def _shown(self, member: PublicMember, language: Language) -> dict[str, Any]:
        has_page = self._list_scope(member.username, 1, 1).total > 0
        role = language.gettext(_ROLES.get(member.role, member.role))
        return {"username": member.username, "role": role, "has_page": has_page}

    def _list_scope(self, scope: str, page: int, limit: int) -> CardResults:
        return self._views.search(Query(scope=scope, order=Order.INSTALLS), None, page, limit)


def _write(sections: Sequence[FrontSection], language: Language) -> tuple[Markup, set[str]]:
    """With the widgets in them."""
    html, shown = Markup(), set[str]()
    for section in sections:
        written, keys = section.write(language)
        html += written
        shown |= {*keys}
    return html, shown


@cache
def _sorts(language: Language) -> tuple[tuple[str, str], ...]:
    return tuple([(order, language.gettext(text)) for order, text in _SORTS.items()])
