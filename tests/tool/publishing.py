"""ann/clock in a scripted catalog, and changes to its manifest."""

import hashlib
import json
from pathlib import Path
from typing import Any

from support.scripted import Scripted, ScriptedServer
from tool.tool import DESCRIPTION

PUBLISH = "/api/widgets/publish"
SCOPES = "/api/widgets/scopes"
DETAIL = "/api/v1/widgets/ann/clock"
OWN_DETAIL = "/api/widgets/ann/clock"
BUNDLE_URL = "https://cdn.example/@ann/clock/0.1.0/index.js"
NONE = Scripted(404, {"error": "There is no widget 'ann/clock'."})


def published(
    widget: Path, catalog: ScriptedServer, version: str = "0.1.0", **fields: Any
) -> dict[str, Any]:
    """The public detail of a widget with only this version."""
    content = (widget / "index.js").read_bytes()
    entry = {
        "version": version,
        "bundleUrl": f"{catalog.url}/cdn/index.js",
        "bundleSize": len(content),
        "sha256Hash": hashlib.sha256(content).hexdigest(),
        "publishedAt": "2026-01-31T09:05:00.000Z",
        "sdkVersion": "^2.0.0",
        "displayName": "Clock",
        "description": DESCRIPTION,
        "icon": "mdi:puzzle-outline",
        "minSize": {"w": 2, "h": 1},
        "maxSize": {"w": 4, "h": 4},
        "permissions": [],
        "license": None,
        **fields,
    }
    head = {"scope": "ann", "name": "clock", "displayName": "Clock"}
    return {"widget": head, "versions": [entry], "latestVersion": version}


def edit(widget: Path, **fields: Any) -> None:
    file = widget / "widget.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **fields}))
