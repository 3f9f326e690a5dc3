"""Data folders for services in other processes, filled through the real action."""

from pathlib import Path
from typing import Any

from support.widgets import import_widgets
from widget_catalog.wiring import prepare_node


def filled_folder(data: Path, *lines: dict[str, Any], beside: Path | None = None) -> Path:
    """A data folder with these widgets; `beside` is where their bundle files lie."""
    node = prepare_node(data)
    import_widgets(node, *lines, beside=beside)
    node.store.close()
    return data
