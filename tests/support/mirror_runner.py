"""A process that mirrors on command, in children that can be killed at any moment.

    python -m support.mirror_runner DATA URL

For every line on standard input it forks a child that does one round, as the command does beside a
service, and prints the child's number; then, when it has ended, how. It has loaded everything
before, so that a kill falls into the copying and not into the loading.
"""

import os
import sys
from pathlib import Path

from widget_catalog.actions.mirror import mirroring
from widget_catalog.wiring import prepare_node
from widget_catalog_client import Catalog, ClientError


def run_once(data: Path, url: str) -> int:
    node = prepare_node(data)
    with Catalog(url, retries=0) as catalog:
        copying = mirroring.Mirroring(node.store, node.bundles, catalog, 1 << 21)
        try:
            copying.begin(mirroring.Wanted())
            return len(copying.run().faults)
        except ClientError:
            return 100  # The other side was killed.


def main(data: Path, url: str) -> None:
    mirroring._WIDGETS_PER_COMMIT = 5  # As many transactions as there can be: more to kill.
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            os._exit(run_once(data, url))
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
