"""A process that imports on command, in children that can be killed at any moment.

    python -m support.importer DATA

For every line on standard input, the path of a file or named pipe, it forks a child that imports
it as the command does beside a service, and prints the child's number. It has loaded everything
before, so that a kill falls into the importing and not into the loading.
"""

import os
import sys
from pathlib import Path

from widget_catalog.actions import staged_import
from widget_catalog.actions.import_catalog import import_catalog
from widget_catalog.wiring import prepare_node


def run_import(data: Path, file: Path) -> None:
    node = prepare_node(data)
    with file.open("rb") as lines:
        import_catalog(node.store, node.bundles, lines, file.parent, max_bundle_bytes=1 << 21)


def main(data: Path) -> None:
    staged_import._SLICE_S = 1e-3  # As many transactions as there can be: all the more to kill.
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            run_import(data, Path(line.strip()))
            os._exit(0)
        print(child, flush=True)
        os.waitpid(child, 0)
        print("ended", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
