"""Imports files, each in a child that can be killed: see `support/children.py`.

    python -m transfer.importer DATA

Each line names a file or a pipe, which is imported like the command does next to a service.
"""

import sys
from functools import partial
from pathlib import Path

from support.children import run_children
from widget_catalog.catalog.node.node import prepare_node
from widget_catalog.catalog.reading import accepted_import
from widget_catalog.transfer.import_catalog import import_catalog


def run_import(data: Path, name: str) -> int:
    node, file = prepare_node(data), Path(name)
    with file.open("rb") as lines:
        import_catalog(node.store, node.bundles, lines, file.parent, max_bundle_bytes=1 << 21)
    return 0


if __name__ == "__main__":
    # As many transactions as possible, for more states to kill.
    accepted_import.SLICE_S = 1e-3
    run_children(partial(run_import, Path(sys.argv[1])))
