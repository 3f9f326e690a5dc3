"""Pages of a widget: the widget, all its versions, and one per version."""

from collections.abc import Mapping
from typing import Any

from widget_contract.wire import VersionEntry, WidgetDetail

from ...core.http.content import AnyContent
from ..catalog import Catalog
from ..installs import Installs
from ..views import Views
from .facts import (
    VersionRow,
    compatibilities,
    find_version,
    grid,
    permission_fact,
    use,
    version_rows,
)
from .feeds import BADGES, badges_in_markdown
from .manifest_facts import read_manifest
from .markdown import MarkdownRenderer
from .preview import panel_of
from .rendered_pages import PageRequest, RenderedPages, page_numbers
from .store_reads import InstallsReader

# Limits for long texts, to keep pages small.
_NOTES_BYTES = 12_000
_README_BYTES = 20_000
_ROWS = 12
_ROWS_PER_PAGE = 25


class WidgetPages:
    def __init__(
        self,
        catalog: Catalog,
        pages: RenderedPages,
        installs: InstallsReader | None,
        public_url: str,
    ) -> None:
        self._catalog = catalog
        self._views = Views(catalog)
        self._pages = pages
        self._installs = installs
        self._public_url = public_url
        self._markdown = MarkdownRenderer()

    async def widget(self, request: PageRequest) -> AnyContent | None:
        scope, name = request.params["scope"], request.params["name"]
        found = await self._views.find_widget(request.key)
        if found is None:
            return None
        installs = await self._find_installs(request.key)
        revoked = self._views.list_revoked(scope, name)
        key, shows = f"widget {request.key}", (found.tag, installs, revoked)
        kept = self._pages.find(key, shows)
        if kept is not None:
            return kept
        detail = found.read()
        shown = next((it for it in detail.versions if not it.yanked), None)
        shown = shown or (detail.versions[0] if detail.versions else None)
        none: dict[str, Any] = {"version": None, "is_final": True}
        version = none if shown is None else await self._version(shown)

        def values() -> dict[str, Any]:
            return {
                "widget": detail.widget,
                "versions": self._rows(detail, 0, _ROWS, revoked),
                "version_count": len(detail.versions),
                "compatibilities": compatibilities(detail.versions)[:_ROWS],
                "installs": installs,
                "badges": BADGES,
                "badges_markdown": badges_in_markdown(self._public_url, scope, name),
                **version,
            }

        return self._pages.get(
            key, shows, "catalog/widget.html", values, is_kept=version["is_final"]
        )

    async def versions(self, request: PageRequest) -> AnyContent | None:
        scope, name, page = request.params["scope"], request.params["name"], request.page
        found = await self._views.find_widget(request.key)
        if found is None:
            return None
        revoked = self._views.list_revoked(scope, name)

        def values() -> dict[str, Any]:
            detail = found.read()
            start, count = (page - 1) * _ROWS_PER_PAGE, len(detail.versions)
            return {
                "widget": detail.widget,
                "versions": self._rows(detail, start, start + _ROWS_PER_PAGE, revoked),
                "version_count": count,
                "latest": detail.latest_version,
                "page": page,
                "pages": (pages := -(-count // _ROWS_PER_PAGE)),
                "numbers": page_numbers(page, pages),
                "address": lambda to: self._pages.address(f"{path}?page={to}"),
            }

        path, key = f"/widgets/{request.key}/versions", f"versions {request.key} {page}"
        return self._pages.get(key, (found.tag, revoked), "catalog/versions.html", values)

    async def version(self, request: PageRequest) -> AnyContent | None:
        scope, name, number = (request.params[it] for it in ("scope", "name", "number"))
        found = await self._views.find_widget(request.key)
        if found is None:
            return None
        revoked = self._views.list_revoked(scope, name)
        key, shows = f"version {request.key}/{number}", (found.tag, revoked)
        kept = self._pages.find(key, shows)
        if kept is not None:
            return kept
        detail = found.read()
        version = find_version(detail, number)
        if version is None:
            return None
        facts = await self._version(version)

        def values() -> dict[str, Any]:
            at = detail.versions.index(version)
            (row,) = self._rows(detail, at, at + 1, revoked)
            return {
                "widget": detail.widget,
                "row": row,
                "is_latest": version.version == detail.latest_version,
                "latest": detail.latest_version,
                **facts,
            }

        return self._pages.get(
            key, shows, "catalog/version.html", values, is_kept=facts["is_final"]
        )

    def _rows(
        self, detail: WidgetDetail, start: int, stop: int, revoked: Mapping[str, str]
    ) -> list[VersionRow]:
        return version_rows(detail.versions, start, stop, self._views.requested, revoked)

    async def _version(self, it: VersionEntry) -> dict[str, Any]:
        """The data shown on the pages of a widget and of a version. If it is not final, the page
        must not be cached.
        """
        style = self._views.find_style(it.scope, it.name, it.version)
        beside = self._views.find_version(it.scope, it.name, it.version)
        manifest = read_manifest(beside.manifest)
        notes = await self._markdown.render(it.release_notes, _NOTES_BYTES, it.scope)
        readme = await self._markdown.render(manifest.readme, _README_BYTES, it.scope)
        return {
            "version": it,
            "revoked": beside.revoked,
            "details": beside,
            "preview": panel_of(self._catalog, it),
            "grid": grid(it),
            "permissions": [permission_fact(one) for one in self._views.requested(it)],
            "use": use(it, style, self._public_url),
            "manifest": manifest,
            "notes": notes.html,
            "readme": readme.html,
            "is_final": notes.is_final and readme.is_final,
        }

    async def _find_installs(self, key: str) -> Installs | None:
        number = self._views.find_number(key)
        if number is None or self._installs is None:
            return None
        return await self._installs.find(number)
