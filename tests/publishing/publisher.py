"""A process that publishes on command, in children that can be killed at any moment.

    python -m publishing.publisher DATA [--pictures]

For every line on standard input, a version number, it forks a child that publishes this
version of ann/clock, and prints the child's process id. It has imported everything before, so
that a kill hits the publishing and not the imports.
"""

import os
import sys
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from publishing.publish_requests import sha
from support.people import announce, request_body
from support.pictures import a_picture
from widget_catalog.accounts.store import get_account
from widget_catalog.catalog.node.node import open_node
from widget_catalog.catalog.store.attached_content import inspect_picture
from widget_catalog.core.actors import Actor, Via
from widget_catalog.publishing.picture_checks import Checked
from widget_catalog.publishing.publish_version import publish_version
from widget_catalog.publishing.request_version import request_version
from widget_contract.version_files import kind_of


def bundle_of(version: str) -> bytes:
    return b"export default '%b';\n" % version.encode() * 10_000


def pictures_of(version: str) -> dict[str, bytes]:
    """Different for each version, so that none keeps another's file."""
    shade = zlib.crc32(version.encode()) % 256
    size = 64 + zlib.crc32(version.encode()) % 900
    return {
        "screenshots/light.png": a_picture("png", size, size, shade),
        "screenshots/dark.jpg": a_picture("jpg", size + 1, size, shade),
    }


def publish(
    data: Path,
    version: str,
    before_confirm: Callable[[], None] = lambda: None,
    pictures: Mapping[str, bytes] = MappingProxyType({}),
) -> None:
    node = open_node(data)
    with node.store.reading() as connection:
        actor = Actor(via=Via.SESSION, account=get_account(connection, "ann"))
    js = bundle_of(version)
    body = request_body("ann/clock", version, js)
    if pictures:
        body["files"] = announce(pictures)
    request = request_version(node.store, actor, body, max_bundle_bytes=1 << 21)
    for path, content in {"index.js": js, **pictures}.items():
        upload = node.uploads.receive(request.id, path, len(content))
        upload.write(content)
        upload.finish()
    before_confirm()
    checked = Checked()
    for path, content in pictures.items():
        checked.add((sha(content), kind_of(path)), inspect_picture(content, kind_of(path)))
    publish_version(node.store, node.bundles, node.uploads, actor, request.id, checked=checked)


def main(data: Path, *, has_pictures: bool) -> None:
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            version = line.strip()
            publish(data, version, pictures=pictures_of(version) if has_pictures else {})
            os._exit(0)
        print(child, flush=True)
        os.waitpid(child, 0)
        print("ended", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), has_pictures="--pictures" in sys.argv)
