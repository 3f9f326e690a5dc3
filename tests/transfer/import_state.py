"""Everything that an import could have left behind."""

from pathlib import Path
from typing import Any, NamedTuple

from support.widgets import version_line
from widget_catalog.catalog.node.node import Node
from widget_catalog.transfer.export_catalog import export_catalog, linked_to
from widget_catalog.transfer.import_catalog import import_catalog
from widget_catalog.transfer.import_checks import ImportSummary

MAX_BUNDLE_BYTES = 100_000


class State(NamedTuple):
    exported: bytes
    files: list[Path]
    revision: int
    counts_revision: int


def state_of(node: Node) -> State:
    bundles = node.folder.bundles
    return State(
        exported(node),
        sorted(it for it in bundles.rglob("*") if not it.is_dir()),
        node.revision.current(),
        node.counts.revision(),
    )


def exported(node: Node) -> bytes:
    return b"".join(export_catalog(node.store, linked_to("https://catalog.example/cdn")))


def take(node: Node, content: bytes, base_folder: Path) -> ImportSummary:
    """Import the content of a file in `base_folder`."""
    lines = content.splitlines(keepends=True)
    return import_catalog(node.store, node.bundles, lines, base_folder, MAX_BUNDLE_BYTES)


def stored_line(version: str = "1.0.0", file: str = "clock.js", **fields: Any) -> dict[str, Any]:
    """A version whose bundle is a file."""
    elsewhere = {"bundleUrl": None, "bundleSize": None, "sha256Hash": None}
    return version_line(version, **{**elsewhere, "bundleFile": file, **fields})
