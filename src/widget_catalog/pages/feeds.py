"""Pages for programs: Atom feeds of recent publishes, sitemaps, and badges for other sites."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from widget_contract.names import is_name
from widget_contract.wire import VersionEntry, WidgetDetail

from ..catalog.model.query import Order, Query
from ..core.clock import from_ms, iso
from ..core.http.content import AnyContent
from ..core.http.public_page import PageRequest
from .rendered_pages import RenderedPages
from .views import Views

_ENTRIES = 30
# The time of an empty feed, because a feed must have one.
_NEVER = "1970-01-01T00:00:00.000Z"

BADGES = ("version", "downloads", "sdk")
_GREEN, _BLUE, _GREY = "#11685a", "#2b5c92", "#57625e"
_MAX_CHARACTERS = 40
# Approximate widths of characters in the badge's font; `textLength` makes them exact.
_NARROW, _USUAL, _WIDE = 4.0, 6.8, 9.5
_NARROW_CHARACTERS = frozenset("ijlrtfI.,:;|!'()[] -")
_WIDE_CHARACTERS = frozenset("mwMW@%")
_SIDE = 12


class Badge(NamedTuple):
    label: str
    value: str
    color: str

    @property
    def label_width(self) -> int:
        return _width(self.label)

    @property
    def value_width(self) -> int:
        return _width(self.value)


@dataclass
class Feeds:
    """`list_paths` returns the paths of permanent pages."""

    views: Views
    pages: RenderedPages
    list_paths: Callable[[], Awaitable[list[str]]]

    async def latest(self, request: PageRequest) -> AnyContent | None:
        """The most recently updated widgets; None if there is no such scope."""
        scope = request.params.get("scope")
        if scope is not None and not is_name(scope):
            return None
        found = self.views.search(Query(scope=scope, order=Order.UPDATED), None, 1, _ENTRIES)
        if scope is not None and not found.total:
            return None

        def values() -> dict[str, Any]:
            latest = [it.latest_version for it in found.widgets]
            page = f"/scopes/{scope}" if scope else "/"
            path = f"{page.rstrip('/')}/feed.atom"
            return _feed(scope or "", path, page, [it for it in latest if it is not None])

        shows = (self.views.revision(), scope)
        return self.pages.get(f"feed {scope}", shows, "pages/feed.xml", values)

    async def widget(self, request: PageRequest) -> AnyContent | None:
        key = request.key
        found = await self.views.find_widget(key)
        if found is None:
            return None

        def values() -> dict[str, Any]:
            detail, page = found.read(), f"/widgets/{key}"
            entries = detail.versions[:_ENTRIES]
            return _feed(detail.widget.display_name, f"{page}/feed.atom", page, entries)

        shows = (self.views.revision(),)
        return self.pages.get(f"feed {key}", shows, "pages/feed.xml", values)

    async def badge(self, request: PageRequest) -> AnyContent | None:
        kind = request.params["kind"]
        found = await self.views.find_widget(request.key)
        badge = badge_of(kind, None if found is None else found.read())
        if badge is None:
            return None
        key = f"badge {request.key}/{kind}"
        return self.pages.get(key, (badge,), "pages/badge.svg", lambda: {"badge": badge})

    async def sitemap(self, _: PageRequest) -> AnyContent:
        """An index: the first part has the permanent pages, the others widgets and scopes."""
        parts = self.views.count_parts()
        return self.pages.get("sitemap", (parts,), "pages/sitemap.xml", lambda: {"parts": parts})

    async def sitemap_part(self, request: PageRequest) -> AnyContent | None:
        file = request.params["file"]
        number = file.removesuffix(".xml")
        if not (number.isascii() and number.isdecimal() and len(number) < 9):
            return None
        part = int(number)
        if file != f"{part}.xml" or part > self.views.count_parts():
            return None
        paths = await self.list_paths() if part == 0 else []
        key, shows = f"sitemap {part}", (self.views.revision(), *paths)
        return self.pages.get(
            key, shows, "pages/sitemap.xml", lambda: self._list_addresses(part, paths)
        )

    def _list_addresses(self, part: int, paths: list[str]) -> dict[str, Any]:
        if part == 0:
            return {"parts": None, "paths": paths, "scopes": [], "widgets": []}
        widgets = [
            (scope, name, iso(from_ms(at)))
            for scope, name, at in self.views.list_addresses(part - 1)
        ]
        # A scope is repeated in every part that has one of its widgets: finding its first part
        # would require all previous ones.
        scopes = dict.fromkeys(scope for scope, _, _ in widgets)
        return {"parts": None, "paths": [], "scopes": scopes, "widgets": widgets}


def _feed(title: str, path: str, page: str, entries: Sequence[VersionEntry]) -> dict[str, Any]:
    updated = max((it.published_at for it in entries), default=_NEVER)
    return {"title": title, "path": path, "page": page, "entries": entries, "updated": updated}


def badge_of(kind: str, detail: WidgetDetail | None) -> Badge | None:
    """None if there is no such kind. For an unknown widget, the badge says so."""
    label = kind.removesuffix(".svg")
    if label not in BADGES or label == kind:
        return None
    if detail is None:
        return Badge(label, "not found", _GREY)
    if label == "downloads":
        return Badge("installs", short_count(detail.widget.download_count), _BLUE)
    latest = next((it for it in detail.versions if it.version == detail.latest_version), None)
    if latest is None:
        return Badge(label, "none", _GREY)
    value = latest.version if label == "version" else latest.sdk_version
    return Badge(label, value[:_MAX_CHARACTERS], _GREEN)


def _width(text: str) -> int:
    narrow = sum(it in _NARROW_CHARACTERS for it in text)
    wide = sum(it in _WIDE_CHARACTERS for it in text)
    usual = len(text) - narrow - wide
    return round(narrow * _NARROW + usual * _USUAL + wide * _WIDE) + _SIDE


def short_count(count: int) -> str:
    for unit, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if count >= size:
            return f"{count / size:.1f}".removesuffix(".0") + unit
    return str(count)


def badges_in_markdown(public_url: str, scope: str, name: str) -> str:
    """All badges, each as a link to the page of the widget."""
    key = f"{scope}/{name}"
    return "\n".join(
        f"[![{kind}]({public_url}/badges/{key}/{kind}.svg)]({public_url}/widgets/{key})"
        for kind in BADGES
    )
