"""Sitemaps: an index, a part for permanent pages, and parts for widgets and scopes."""

from collections.abc import Callable
from typing import Any

from ...core.clock import from_ms, iso
from ...core.http.content import AnyContent
from ..views import Views
from .rendered_pages import RenderedPages


class Sitemaps:
    def __init__(
        self, views: Views, pages: RenderedPages, list_paths: Callable[[], list[str]]
    ) -> None:
        """`list_paths` returns the paths of permanent pages."""
        self._views = views
        self._pages = pages
        self._list_paths = list_paths

    def index(self) -> AnyContent:
        parts = self._views.count_parts()
        return self._pages.get("sitemap", (parts,), "catalog/sitemap.xml", lambda: {"parts": parts})

    def part(self, file: str) -> AnyContent | None:
        number = file.removesuffix(".xml")
        if not (number.isascii() and number.isdecimal() and len(number) < 9):
            return None
        part = int(number)
        if file != f"{part}.xml" or part > self._views.count_parts():
            return None
        shows = (self._views.revision(),)
        return self._pages.get(
            f"sitemap {part}", shows, "catalog/sitemap.xml", lambda: self._values(part)
        )

    def _values(self, part: int) -> dict[str, Any]:
        if part == 0:
            return {"parts": None, "paths": self._list_paths(), "scopes": [], "widgets": []}
        widgets = [
            (scope, name, iso(from_ms(at)))
            for scope, name, at in self._views.list_addresses(part - 1)
        ]
        # A scope is repeated in every part that has one of its widgets: finding its first part
        # would require all previous ones.
        scopes = dict.fromkeys(scope for scope, _, _ in widgets)
        return {"parts": None, "paths": [], "scopes": scopes, "widgets": widgets}
