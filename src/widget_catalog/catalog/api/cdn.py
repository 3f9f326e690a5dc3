"""Files of versions over HTTP: `/cdn/@{scope}/{name}/{version}/index.js` or another path, sent from
disk.
"""

import asyncio
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import structlog

from widget_contract.addresses import parse_file_path
from widget_contract.version_files import CONTENT_TYPES, PICTURE_KINDS

from ...core.errors import BundleNotFound, StoreUnavailable
from ...core.files.contract import Fetch, Kind, LocalFiles
from ...core.http.conditional import choose_range, is_known
from ...core.http.errors import error, log_error
from ...core.http.http import CORS, NOSNIFF, FileBody, Headers, Request, Response
from ..catalog import BundleRef, Catalog

PREFIX = "/cdn/"

# For bundles that have to be fetched; started on first use.
_THREADS = 4

_log = structlog.get_logger("widget_catalog.cdn")

_TYPES: dict[Kind, tuple[str, str]] = {
    kind: ("content-type", its if kind in PICTURE_KINDS else f"{its}; charset=utf-8")
    for kind, its in CONTENT_TYPES.items()
}
_BUNDLE: Headers = [
    ("cache-control", "public, max-age=31536000, immutable"),
    ("accept-ranges", "bytes"),
    ("cross-origin-resource-policy", "cross-origin"),
    CORS,
    NOSNIFF,
]


class Cdn:
    def __init__(self, catalog: Catalog, bundles: LocalFiles, fetch: Fetch | None = None) -> None:
        """`fetch` is for bundles in an object store."""
        self._catalog = catalog
        self._bundles = bundles
        self._fetch = fetch
        self.fetches = 0
        self._fetching: dict[Path, asyncio.Future[None]] = {}
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="bundles")

    def close(self) -> None:
        self._threads.shutdown()

    async def handle(self, request: Request) -> Response:
        if request.method == "OPTIONS":
            allowed = [("access-control-allow-methods", "GET, HEAD, OPTIONS")]
            allowed += [("access-control-allow-headers", "*")]
            return Response(204, [CORS, *allowed, NOSNIFF], None)
        if request.method not in ("GET", "HEAD"):
            sentence = "A bundle can be read, and nothing else; use GET, HEAD, OPTIONS."
            return error(405, sentence, ("allow", "GET, HEAD, OPTIONS"), CORS)
        file = parse_file_path(request.path[len(PREFIX) - 1 :])
        found = None if file is None else self._catalog.find_file(*file)
        if file is None or found is None:
            return error(404, f"There is no bundle at {request.path[:200]}.", CORS)
        revoked = self._catalog.find_revocation(file.scope, file.name, file.version)
        if revoked is not None:
            sentence = f"This version was revoked, and must not be used: {revoked.reason}"
            return error(410, sentence, ("cache-control", "no-store"), CORS)
        path = self._bundles.local_path(found.sha256_hash, file.kind)
        if self._fetch is not None and not _is_whole(path, found.size_bytes):
            try:
                await self._have(self._fetch, path, found, file.kind)
            except StoreUnavailable as problem:
                log_error(request, problem)
                sentence = "This bundle cannot be fetched just now. Try again soon."
                return error(503, sentence, ("retry-after", "5"), CORS)
            except BundleNotFound:
                pass
        if not _is_whole(path, found.size_bytes):
            _log.error("A bundle is missing or damaged; run doctor.", file=str(path))
            return error(503, "This bundle is missing on the server.", CORS)
        headers = [_TYPES[file.kind], *_BUNDLE, ("etag", f'"{found.sha256_hash}"')]
        return _send(request, FileBody(path, 0, found.size_bytes, is_whole=True), headers)

    async def _have(self, fetch: Fetch, path: Path, found: BundleRef, kind: Kind) -> None:
        """Fetch it in a thread; concurrent requests share one fetch."""
        loop = asyncio.get_running_loop()
        fetching = self._fetching.get(path)
        if fetching is None:
            self.fetches += 1
            what = (found.sha256_hash, kind, found.size_bytes)
            fetching = loop.run_in_executor(self._threads, fetch, *what)
            self._fetching[path] = fetching
            fetching.add_done_callback(lambda _: self._fetching.pop(path, None))
        await asyncio.shield(fetching)


def _is_whole(path: Path, size_bytes: int) -> bool:
    try:
        found = path.stat()
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size == size_bytes


def _send(request: Request, file: FileBody, headers: Headers) -> Response:
    etag = headers[-1][1]
    if is_known(request.headers, etag):
        return Response(304, headers[1:], None)
    wanted = request.headers.get("range") if request.method == "GET" else None
    condition = request.headers.get("if-range")
    if wanted is not None and condition in (None, etag):
        try:
            part = choose_range(wanted, file.stop)
        except ValueError:
            whole = ("content-range", f"bytes */{file.stop}")
            return error(416, "The bundle has no such bytes.", whole, CORS)
        if part is not None:
            start, stop = part
            span = ("content-range", f"bytes {start}-{stop - 1}/{file.stop}")
            return Response(206, [*headers, span], FileBody(file.path, start, stop, is_whole=False))
    return Response(200, headers, file)
