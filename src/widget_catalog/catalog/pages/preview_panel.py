"""The data of a live preview's panel, and the security headers of its page."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from widget_contract.preview import FRAME_SOURCES
from widget_contract.wire import VersionEntry
from widget_contract.wire_running import VersionDetail

from ...core.http.http import Headers
from ...core.http.rendering import PageRenderer
from ..catalog import Catalog

# The keys of a manifest that the panel uses: form, initial values, and size.
_OF_MANIFEST = ("configSchema", "defaultConfig", "defaultSize")

_decode = msgspec.json.Decoder(VersionDetail).decode


def panel_of(catalog: Catalog, version: VersionEntry) -> dict[str, Any] | None:
    """For `templates/preview/panel.html`. None if the version was revoked, or its bundle is hosted
    elsewhere: our pages load nothing from other hosts.
    """
    scope, name, number = version.scope, version.name, version.version
    content = catalog.version(f"{scope}/{name}/{number}")
    if content is None or catalog.find_bundle(scope, name, number) is None:
        return None
    detail = _decode(content.body)
    if detail.revoked is not None:
        return None
    manifest = detail.manifest or {}
    styles = [it.url for it in detail.files if it.path == "index.css"]
    return {
        "displayName": version.display_name,
        "bundleUrl": version.bundle_url,
        "sha256Hash": version.sha256_hash,
        "styleUrl": styles[0] if styles else None,
        "minSize": msgspec.to_builtins(version.min_size),
        "maxSize": msgspec.to_builtins(version.max_size),
        "permissions": version.permissions,
        "manifest": of_manifest(manifest),
    }


def of_manifest(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {key: manifest[key] for key in _OF_MANIFEST if key in manifest}


def panel_security_headers(renderer: PageRenderer, cdn_url: str) -> Headers:
    """The headers of a page with a panel: it fetches bundles, and frames only our own pages."""
    parts = urlsplit(cdn_url)
    more = f"connect-src 'self' {parts.scheme}://{parts.netloc}; {FRAME_SOURCES}"
    return renderer.security_headers(has_script=True, more=more)
