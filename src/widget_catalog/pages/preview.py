"""A running version on a separate page, and several on `/dashboard`."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec

from widget_contract.capabilities import requested
from widget_contract.wire import VersionEntry

from ..catalog.model.card_picture import choose_picture
from ..catalog.reading.catalog import CatalogReader
from ..catalog.reading.version_details import VersionExtras
from ..core.http.content import AnyContent
from ..core.http.http import Headers
from ..core.http.public_page import PageRequest, PublicRoute
from ..core.http.rendering import PageRenderer
from .rendered_pages import RenderedPages
from .views import Views

_LASTING = (
    ("vary", "accept-encoding"),
    ("cache-control", "public, max-age=31536000, immutable"),
)
# The keys of a manifest that the panel uses: form, initial values, and size.
_OF_MANIFEST = ("configSchema", "defaultConfig", "defaultSize")


class PreviewPages:
    def __init__(self, catalog: CatalogReader, views: Views, pages: RenderedPages) -> None:
        self._catalog = catalog
        self._views = views
        self._pages = pages

    async def dashboard(self, request: PageRequest) -> AnyContent:
        template = "pages/preview/dashboard.html"
        return self._pages.get("dashboard", (), template, dict, request.language)

    async def version(self, request: PageRequest) -> AnyContent | None:
        scope, name, number = (request.params[it] for it in ("scope", "name", "number"))
        widget = await self._views.find_widget(f"{scope}/{name}")
        versions = () if widget is None else widget.read().versions
        version = next((it for it in versions if it.version == number), None)
        if version is None:
            return None
        extras = self._views.find_version(scope, name, number)
        return self._pages.render(
            "pages/preview/page.html",
            request.language,
            version=version,
            preview=panel_of(version, extras),
            revoked=extras.revoked,
            # The files of a revoked version are not served.
            picture=None if extras.revoked else choose_picture(extras.files),
        )

    def routes(self, renderer: PageRenderer, headers: Headers, cdn_url: str) -> list[PublicRoute]:
        """These pages, and the files of all previews, under a path that changes with them."""
        headers = [*headers, *panel_security_headers(renderer, cdn_url)]
        routes = [PublicRoute("/preview/{scope}/{name}/{number}", self.version, headers)]
        if renderer.has_dashboard:
            routes.append(PublicRoute("/dashboard", self.dashboard, headers))
        for name, file in renderer.preview_files.items():
            path = f"{renderer.preview_path}/{name}"
            routes.append(PublicRoute(path, self._file(file.content), [*file.headers, *_LASTING]))
        return routes

    def _file(self, content: bytes) -> Callable[[PageRequest], Awaitable[AnyContent]]:
        packed = self._catalog.packer.content([content])

        async def find(_: PageRequest) -> AnyContent:
            return packed

        return find


def panel_of(version: VersionEntry, extras: VersionExtras) -> dict[str, Any] | None:
    """For `templates/preview/panel.html`. None if the version was revoked, or its bundle is hosted
    elsewhere: our pages load nothing from other hosts.
    """
    if not extras.is_here or extras.revoked is not None:
        return None
    styles = [it.url for it in extras.files if it.path == "index.css"]
    return {
        "displayName": version.display_name,
        "bundleUrl": version.bundle_url,
        "sha256Hash": version.sha256_hash,
        "styleUrl": styles[0] if styles else None,
        "minSize": msgspec.to_builtins(version.min_size),
        "maxSize": msgspec.to_builtins(version.max_size),
        **of_manifest(version.permissions, extras.manifest or {}),
    }


def of_manifest(permissions: Sequence[str], manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The permissions with the capabilities in full, and what the panel shows of a manifest."""
    shown = {key: manifest[key] for key in _OF_MANIFEST if key in manifest}
    # Other tools call it schema.
    if "configSchema" not in manifest and isinstance(manifest.get("schema"), dict):
        shown["configSchema"] = manifest["schema"]
    asked = requested(permissions, msgspec.json.encode(manifest))
    return {"permissions": msgspec.to_builtins(asked), "manifest": shown}


def panel_security_headers(
    renderer: PageRenderer, cdn_url: str, *, ancestors: str = "'none'"
) -> Headers:
    """The headers of a page with a panel: it fetches bundles, and has the frame of the sandbox."""
    parts = urlsplit(cdn_url)
    more = f"connect-src 'self' {parts.scheme}://{parts.netloc}; {renderer.frame_rules}"
    return renderer.security_headers(has_script=True, more=more, ancestors=ancestors)
