"""Records responses of the public API, to compare two revisions of the code byte for byte.

    ./dev run python -m bench.recorded before.txt     # at one revision
    ./dev run python -m bench.recorded after.txt      # at the other one
    diff before.txt after.txt

Each line is the hash of a response with its status and headers, and the request. In this process,
without a network.
"""

import asyncio
import hashlib
import random
import sys
from collections.abc import Iterator
from pathlib import Path

from widget_catalog.app.features import install_features
from widget_catalog.app.worker import build_worker
from widget_catalog.catalog.node.node import prepare_node
from widget_catalog.core.http.http import LargeBody, PlainRequest, Response, SentBody
from widget_catalog.core.settings import Settings

from .folders import ensure_folder
from .measures import BenchError
from .reading import SIZE, VERSIONS, compat_targets, everyday_targets, new_targets, registry_targets
from .traffic import ACCEPTS_COMPRESSED, detail_targets, version_targets

_EACH = 1_000


def _targets() -> Iterator[str]:
    """Five thousand requests, and the registries."""
    yield from detail_targets(SIZE, _EACH)
    yield from random.Random(0).sample(version_targets(SIZE, VERSIONS), _EACH)
    searches = [*everyday_targets(), *compat_targets()]
    yield from searches[:_EACH]
    yield from new_targets()[: 3 * _EACH - len(searches[:_EACH])]
    yield from registry_targets()


async def _record(folder: Path, file: Path) -> int:
    worker = build_worker(Settings(data=folder))
    lines = []
    try:
        for number, target in enumerate(_targets()):
            path, _, query = target.partition("?")
            headers = {k.lower(): v for k, v in ACCEPTS_COMPRESSED.items()} if number % 2 else {}
            request = PlainRequest("GET", path, query, headers, "127.0.0.1:1")
            digest = await _digest(await worker.respond(request, SentBody()))
            lines.append(f"{digest} {target}\n")
    finally:
        worker.close()
    file.write_text("".join(lines))
    return len(lines)


async def _digest(response: Response) -> str:
    digest = hashlib.sha256(f"{response.status} {response.headers}".encode())
    body = response.body
    if isinstance(body, LargeBody):
        body = b"".join(await body.pieces())
    if not isinstance(body, bytes):
        raise BenchError(f"A body is a {type(body).__name__}.")
    digest.update(body)
    return digest.hexdigest()


def main(file: Path) -> None:
    install_features()
    folder = ensure_folder(SIZE, VERSIONS)
    prepare_node(folder).store.close()
    print(f"{asyncio.run(_record(folder, file)):,} responses are recorded in {file}.")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
