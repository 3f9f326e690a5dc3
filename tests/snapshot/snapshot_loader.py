"""Loads snapshots, each in a child that can be killed: see `support/children.py`.

    python -m snapshot.snapshot_loader KEY

Each line names a snapshot and a data folder; the snapshot is loaded into the folder like the
command does next to a service.
"""

import sys
from functools import partial
from pathlib import Path

from support.children import run_children
from widget_catalog.catalog import accepted_import
from widget_catalog.catalog.node.context import finish_interrupted_import
from widget_catalog.catalog.node.node import prepare_node
from widget_catalog.core.progress import no_bar
from widget_catalog.snapshot import loader
from widget_catalog.snapshot.keys import VerifyingKey, read_verifying_key
from widget_catalog.snapshot.reader import open_snapshot


def run_load(key: VerifyingKey, line: str) -> int:
    file, data = line.split("\t")
    with open_snapshot(Path(file), key) as snapshot:
        snapshot.verify()
        node = prepare_node(Path(data))
        finish_interrupted_import(node)
        loader.load_snapshot(node.store, node.bundles, snapshot, no_bar)
    return 0


if __name__ == "__main__":
    # As many transactions as possible, for more states to kill.
    accepted_import.SLICE_S = 1e-3
    loader._BATCH = 5
    run_children(partial(run_load, read_verifying_key(Path(sys.argv[1]))))
