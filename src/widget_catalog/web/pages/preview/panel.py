"""What the panel of a live preview is told about a version, and what its page must allow."""

from typing import Any
from urllib.parse import urlsplit

import msgspec

from widget_contract.addresses import style_address
from widget_contract.preview import FRAME_SOURCES
from widget_contract.wire import VersionEntry

from ....catalog.catalog import Catalog
from ...kit.http import Headers
from ...kit.rendering import safety

# Of a manifest, what the panel uses: a form for the settings, what they begin with, and a size.
_OF_MANIFEST = ("configSchema", "defaultConfig", "defaultSize")


def panel_of(
    catalog: Catalog, version: VersionEntry, manifest: dict[str, Any] | None = None
) -> dict[str, Any] | None:
    """For `preview/panel.html`; None if the bundle is stored elsewhere, since nothing of another
    host is loaded by our pages."""
    key = (version.scope, version.name, version.version)
    if catalog.find_bundle(*key) is None:
        return None
    has_style = catalog.find_style(*key) is not None
    return {
        "displayName": version.display_name,
        "bundleUrl": version.bundle_url,
        "sha256Hash": version.sha256_hash,
        "styleUrl": style_address(version.bundle_url) if has_style else None,
        "minSize": msgspec.to_builtins(version.min_size),
        "maxSize": msgspec.to_builtins(version.max_size),
        "permissions": version.permissions,
        "manifest": {it: manifest[it] for it in _OF_MANIFEST if it in manifest} if manifest else {},
    }


def panel_safety(cdn_url: str) -> Headers:
    """The headers of a page with a panel: it fetches bundles, and frames nothing but our own."""
    parts = urlsplit(cdn_url)
    more = f"connect-src 'self' {parts.scheme}://{parts.netloc}; {FRAME_SOURCES}"
    return safety(has_script=True, more=more)
