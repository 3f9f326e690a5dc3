"""Widgets of a few lines of JavaScript, published to a folder for a preview."""

import json
from pathlib import Path
from typing import Any

from support.widgets import import_widgets, version_line, widget_line
from widget_catalog.catalog.node.node import prepare_node

_OF_STORED_ELSEWHERE = ("bundleUrl", "bundleSize", "sha256Hash")


def stored_version(file: str, **fields: Any) -> dict[str, Any]:
    """A version with an imported bundle."""
    line = version_line(bundleFile=file, **fields)
    return {key: it for key, it in line.items() if key not in _OF_STORED_ELSEWHERE}


def publish_modules(data: Path, modules: dict[str, str], manifest: dict[str, Any]) -> None:
    """Each module as version 1.0.0 of `sample/NAME`, all with this manifest."""
    bundles = data.parent / "bundles"
    bundles.mkdir()
    lines = []
    for name, module in modules.items():
        (bundles / f"{name}.js").write_text(module)
        text = json.dumps(manifest | {"name": name})
        version = stored_version(f"{name}.js", permissions=["storage", "network"], manifest=text)
        lines.append(widget_line(f"sample/{name}", versions=[version]))
    node = prepare_node(data)
    import_widgets(node, *lines, base_folder=bundles)
    node.store.close()
