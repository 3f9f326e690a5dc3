"""The demo catalog, imported through the real action."""

from importlib.resources import files
from pathlib import Path

from widget_catalog.catalog.node.node import Node
from widget_catalog.transfer.import_catalog import import_catalog

DEMO_FOLDER = Path(str(files("widget_catalog") / "demo"))
_MAX_BUNDLE_BYTES = 1 << 21


def import_demo(node: Node, *, into_owned: bool = False) -> None:
    """`into_owned`: also where an organization of the same name has its scope."""
    with (DEMO_FOLDER / "catalog.ndjson").open("rb") as lines:
        import_catalog(
            node.store, node.bundles, lines, DEMO_FOLDER, _MAX_BUNDLE_BYTES, into_owned=into_owned
        )
