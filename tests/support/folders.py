"""Data folders: an empty one without the time a migration takes, and filled ones."""

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from support.widgets import import_widgets
from widget_catalog.wiring import DataFolder, prepare_node


@cache
def _empty_database() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        node = prepare_node(Path(folder) / "data")
        node.store.close()
        return node.folder.database.read_bytes()


def empty_folder(data: Path) -> Path:
    """A new data folder as the first start makes it: to migrate takes ten times as long."""
    data.mkdir(parents=True, mode=0o700)
    DataFolder(data).database.write_bytes(_empty_database())
    prepare_node(data).store.close()
    return data


def filled_folder(data: Path, *lines: dict[str, Any], beside: Path | None = None) -> Path:
    """A data folder with these widgets; `beside` is where their bundle files lie."""
    node = prepare_node(data)
    import_widgets(node, *lines, beside=beside)
    node.store.close()
    return data
