"""`/preview/{scope}/{name}/{version}`: a running version on a separate page; `/dashboard`:
several; and the files of all previews, under a path that changes with them.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from widget_contract.preview import FRAME_SOURCES
from widget_contract.wire import VersionEntry

from ...core.http.conditional import content_response
from ...core.http.http import NOSNIFF, Headers, Request, Response
from ...core.http.rendering import HTML, PageRenderer
from ..card_picture import choose_picture
from ..catalog import Catalog
from ..stored_files import StoredFiles
from ..views import VersionBeside, Views

_PREFIX = "/preview/"
_DASHBOARD = "/dashboard"
_FOR_GOOD = ("cache-control", "public, max-age=31536000, immutable")
_REVALIDATED = ("cache-control", "no-cache")
_VARY = ("vary", "accept-encoding")
# The keys of a manifest that the panel uses: form, initial values, and size.
_OF_MANIFEST = ("configSchema", "defaultConfig", "defaultSize")


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

    async def handle(self, request: Request) -> Response | None:
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
        beside = self._views.find_version(version.scope, version.name, version.version)
        return self._renderer.render(
            "catalog/preview/page.html",
            version=version,
            preview=panel_of(self._catalog.files, version, beside),
            # The files of a revoked version are not served.
            picture=None if beside.revoked else choose_picture(beside.files),
        )

    async def _find_version(self, path: str) -> VersionEntry | None:
        if not path.startswith(_PREFIX):
            return None
        match path[len(_PREFIX) :].split("/"):
            case [scope, name, number]:
                widget = await self._views.find_widget(f"{scope}/{name}")
                versions = () if widget is None else widget.read().versions
                return next((it for it in versions if it.version == number), None)
        return None


def panel_of(
    files: StoredFiles, version: VersionEntry, beside: VersionBeside
) -> dict[str, Any] | None:
    """For `templates/preview/panel.html`. None if the version was revoked, or its bundle is hosted
    elsewhere: our pages load nothing from other hosts.
    """
    is_here = files.find_bundle(version.scope, version.name, version.version) is not None
    if not is_here or not beside.files or beside.revoked is not None:
        return None
    styles = [it.url for it in beside.files if it.path == "index.css"]
    return {
        "displayName": version.display_name,
        "bundleUrl": version.bundle_url,
        "sha256Hash": version.sha256_hash,
        "styleUrl": styles[0] if styles else None,
        "minSize": msgspec.to_builtins(version.min_size),
        "maxSize": msgspec.to_builtins(version.max_size),
        "permissions": version.permissions,
        "manifest": of_manifest(beside.manifest or {}),
    }


def of_manifest(manifest: Mapping[str, Any]) -> dict[str, Any]:
    shown = {key: manifest[key] for key in _OF_MANIFEST if key in manifest}
    # Other tools call it schema.
    if "configSchema" not in manifest and isinstance(manifest.get("schema"), dict):
        shown["configSchema"] = manifest["schema"]
    return shown


def panel_security_headers(
    renderer: PageRenderer, cdn_url: str, *, ancestors: str = "'none'"
) -> Headers:
    """The headers of a page with a panel: it fetches bundles, and frames only our own pages."""
    parts = urlsplit(cdn_url)
    more = f"connect-src 'self' {parts.scheme}://{parts.netloc}; {FRAME_SOURCES}"
    return renderer.security_headers(has_script=True, more=more, ancestors=ancestors)
