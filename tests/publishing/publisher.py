"""A process that publishes on command, in children that can be killed at any moment.

    python -m publishing.publisher DATA

For every line on standard input, a version number, it forks a child that publishes this
version of ann/clock, and prints the child's process id. It has imported everything before, so
that a kill hits the publishing and not the imports.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from support.people import request_body
from widget_catalog.accounts.store import get_account
from widget_catalog.catalog.node.node import open_node
from widget_catalog.core.actors import Actor, Via
from widget_catalog.publishing.publish_version import publish_version
from widget_catalog.publishing.request_version import request_version


def bundle_of(version: str) -> bytes:
    return b"export default '%b';\n" % version.encode() * 10_000


def publish(data: Path, version: str, before_confirm: Callable[[], None] = lambda: None) -> None:
    node = open_node(data)
    with node.store.reading() as connection:
        actor = Actor(via=Via.SESSION, account=get_account(connection, "ann"))
    js = bundle_of(version)
    request = request_version(
        node.store, actor, request_body("ann/clock", version, js), max_bundle_bytes=1 << 21
    )
    upload = node.uploads.receive(request.id, "index.js", len(js))
    upload.write(js)
    upload.finish()
    before_confirm()
    publish_version(node.store, node.bundles, node.uploads, actor, request.id)


def main(data: Path) -> None:
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            publish(data, line.strip())
            os._exit(0)
        print(child, flush=True)
        os.waitpid(child, 0)
        print("ended", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
