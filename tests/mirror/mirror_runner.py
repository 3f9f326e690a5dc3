"""Mirrors a catalog, each round in a child that can be killed: see `support/children.py`.

    python -m mirror.mirror_runner DATA URL

For every line, one round, like the command does next to a service.
"""

import sys
from functools import partial
from pathlib import Path

from support.children import run_children
from widget_catalog.catalog.node.node import prepare_node
from widget_catalog.mirror import mirroring, scope_copies
from widget_catalog_client import Catalog, ClientError


def run_once(data: Path, url: str, _: str) -> int:
    node = prepare_node(data)
    with Catalog(url, retries=0) as catalog:
        copying = mirroring.Mirroring(node.store, node.bundles, catalog, 1 << 21)
        try:
            copying.begin(mirroring.Selection())
            return len(copying.run().errors)
        except ClientError:
            return 100  # The upstream was killed.


if __name__ == "__main__":
    # As many transactions as possible, for more states to kill.
    scope_copies._WIDGETS_PER_COMMIT = 5
    run_children(partial(run_once, Path(sys.argv[1]), sys.argv[2]))
