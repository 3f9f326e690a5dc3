"""The page of a scope: its widgets, its public members, and its registry."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from widget_contract.names import is_name
from widget_contract.wire import SearchResults

from ...core.actors import Role
from ...core.http.content import AnyContent
from ..public_members import Member
from ..search.index import Order, Query
from ..views import View, Views
from .rendered_pages import RenderedPages
from .search_page import page_numbers
from .store_reads import StoreReads

_PER_PAGE = 24
# Keeps the page of a large organization small.
_MAX_MEMBERS = 40


class MembersReader(StoreReads[str, Sequence[Member]]):
    """The public members of a scope."""

    kept_s = 2.0  # Short, because members who leave or become private must disappear soon.


class ShownMember(NamedTuple):
    username: str
    role: Role
    has_page: bool


class ScopePage:
    def __init__(self, views: Views, pages: RenderedPages, members: MembersReader | None) -> None:
        self._views = views
        self._pages = pages
        self._members = members

    async def content(self, scope: str, page: int) -> AnyContent | None:
        """None if the scope has no listed widget."""
        if not is_name(scope):
            return None
        found = self._search(scope, page, _PER_PAGE)
        results = found.read()
        if not results.total:
            return None
        members = (await self._members.find(scope) or ()) if self._members is not None else ()

        def values() -> dict[str, Any]:
            pages = -(-results.total // _PER_PAGE)
            return {
                "scope": scope,
                "cards": results.widgets,
                "total": results.total,
                "members": [self._shown(it) for it in members[:_MAX_MEMBERS]],
                "member_count": len(members),
                "page": page,
                "pages": pages,
                "address": lambda to: self._pages.address(f"/scopes/{scope}?page={to}"),
                "numbers": page_numbers(page, pages),
            }

        # Which members have a page depends on all scopes.
        shows = (found.tag, members, self._views.revision() if members else None)
        return self._pages.get(f"scope {scope} {page}", shows, "catalog/scope.html", values)

    def _shown(self, member: Member) -> ShownMember:
        has_page = self._search(member.username, 1, 1).read().total > 0
        return ShownMember(member.username, member.role, has_page)

    def _search(self, scope: str, page: int, limit: int) -> View[SearchResults]:
        query = Query(scope=scope, order=Order.INSTALLS)
        return self._views.search(query, None, page, limit)
