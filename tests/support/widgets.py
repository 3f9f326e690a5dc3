"""Creates lines to import and imports them with the real action."""

import hashlib
import json
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from widget_catalog.catalog.node.node import Node
from widget_catalog.catalog.store.widgets import add_widgets
from widget_catalog.core.clock import now
from widget_catalog.core.errors import BundleRefused
from widget_catalog.transfer.import_catalog import import_catalog
from widget_catalog.transfer.import_checks import ImportSummary
from widget_catalog.transfer.ndjson import Rules, decode_line


def version_line(version: str = "1.0.0", **fields: Any) -> dict[str, Any]:
    """A version with all required fields; `fields` override."""
    return {
        "version": version,
        "bundleUrl": f"https://cdn.example/{version}.js",
        "bundleSize": 1000,
        "sha256Hash": hashlib.sha256(version.encode()).hexdigest(),
        "publishedAt": "2026-01-31T09:05:00.000Z",
        "minSize": {"w": 1, "h": 1},
        "maxSize": {"w": 4, "h": 4},
        "sdkVersion": "^1.0.0",
        **fields,
    }


def widget_line(key: str = "acme/clock", **fields: Any) -> dict[str, Any]:
    """A widget with one version, unless `versions` is given."""
    scope, _, name = key.partition("/")
    return {
        "scope": scope,
        "name": name,
        "displayName": name.capitalize(),
        "description": f"A {name}.",
        "icon": "mdi:clock",
        "isOfficial": False,
        "listed": True,
        "downloadCount": 0,
        "createdAt": "2026-01-01T00:00:00.000Z",
        "versions": [version_line()],
        **fields,
    }


def ndjson(*lines: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def import_widgets(
    node: Node,
    *lines: dict[str, Any],
    base_folder: Path | None = None,
    into_owned: bool = False,
    is_lenient: bool = False,
) -> ImportSummary:
    return import_catalog(
        node.store,
        node.bundles,
        ndjson(*lines).splitlines(keepends=True),
        base_folder or node.folder.path,
        max_bundle_bytes=2_097_152,
        into_owned=into_owned,
        is_lenient=is_lenient,
    )


def add_old_widgets(node: Node, *lines: dict[str, Any]) -> None:
    """Widgets with texts that an earlier release imported unchanged, whatever they contained."""
    rules = Rules(newest=now())
    with node.store.publishing() as tx:
        for line in lines:
            plain = json.dumps(line | {"displayName": "-", "description": None}).encode()
            widget, downloads, _ = decode_line(plain, _import_nothing, rules)
            texts = {"display_name": line["displayName"], "description": line["description"]}
            add_widgets(tx, [(msgspec.structs.replace(widget, **texts), downloads)])


def _import_nothing(name: str, _kind: str, _makes_thumbnail: bool) -> NoReturn:
    raise BundleRefused(f"{name} is not stored by this.")
