"""`/preview/{scope}/{name}/{version}`: a running version on a separate page; `/dashboard`:
several; and the files of all previews, under a path that changes with them.
"""

from collections.abc import Mapping

from widget_contract.wire import VersionEntry

from ...core.http.conditional import content_response
from ...core.http.http import NOSNIFF, Headers, Request, Response
from ...core.http.rendering import HTML, PageRenderer
from ..catalog import Catalog
from ..views import Views
from .preview_panel import panel_of, panel_security_headers

_PREFIX = "/preview/"
_DASHBOARD = "/dashboard"
_FOR_GOOD = ("cache-control", "public, max-age=31536000, immutable")
_REVALIDATED = ("cache-control", "no-cache")
_VARY = ("vary", "accept-encoding")


class PreviewPages:
    def __init__(self, catalog: Catalog, renderer: PageRenderer, cdn_url: str) -> None:
        self._catalog = catalog
        self._views = Views(catalog)
        self._renderer = renderer
        policy = panel_security_headers(renderer, cdn_url)
        self._html: Headers = [HTML, _VARY, _REVALIDATED, *policy]
        self._files = {
            f"{renderer.preview_path}/{name}": (
                catalog.packer.content([file.content]),
                [*file.headers, _VARY, _FOR_GOOD],
            )
            for name, file in renderer.preview_files.items()
        }

    async def answer(self, request: Request) -> Response | None:
        """None: there is no such page."""
        found = self._files.get(request.path)
        if found is None:
            page = await self._render(request.path)
            if page is None:
                return None
            found = self._catalog.packer.content([page]), self._html
        if request.method not in ("GET", "HEAD"):
            sentence = "Only GET and HEAD are allowed at this address."
            allowed = ("allow", "GET, HEAD")
            return self._renderer.message(405, "Method not allowed", sentence, allowed, NOSNIFF)
        return content_response(request, *found)

    async def _render(self, path: str) -> bytes | None:
        if path == _DASHBOARD:
            is_there = self._renderer.has_dashboard
            return self._renderer.render("catalog/preview/dashboard.html") if is_there else None
        version = await self._find_version(path)
        if version is None:
            return None
        return self._renderer.render("catalog/preview/page.html", **self._shown(version))

    async def _find_version(self, path: str) -> VersionEntry | None:
        if not path.startswith(_PREFIX):
            return None
        match path[len(_PREFIX) :].split("/"):
            case [scope, name, number]:
                widget = await self._views.find_widget(f"{scope}/{name}")
                versions = () if widget is None else widget.read().versions
                return next((it for it in versions if it.version == number), None)
        return None

    def _shown(self, version: VersionEntry) -> Mapping[str, object]:
        return {"version": version, "preview": panel_of(self._catalog, version)}
