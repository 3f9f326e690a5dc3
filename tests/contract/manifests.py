"""Valid manifests, and the errors of others."""

import json
from typing import Any

import pytest

from widget_contract.errors import InvalidManifest
from widget_contract.manifests import parse_manifest

LEAST: dict[str, Any] = {
    "name": "clock",
    "version": "1.0.0",
    "displayName": "Clock",
    "minSize": {"w": 1, "h": 1},
    "maxSize": {"w": 4, "h": 2},
    "sdkVersion": "^1.0.0",
}
FULL: dict[str, Any] = {
    **LEAST,
    "scope": "ann",
    "description": "The time.",
    "icon": "mdi:clock-outline",
    "permissions": ["network", "storage:read"],
    "license": "MIT",
    "releaseNotes": "# New\n\n\t- all",
    "configVersion": 3,
    "main": "dist/index.js",
    "style": "dist/a b.css",
}


def errors_of(said: dict[str, Any], request: dict[str, Any] | None = None) -> list[str]:
    with pytest.raises(InvalidManifest) as raised:
        parse_manifest(json.dumps(said), request)
    return raised.value.errors
