"""Files of versions over HTTP: `/cdn/@{scope}/{name}/{version}/index.js` or another path, sent from
disk.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import structlog

from widget_contract.addresses import parse_file_path
from widget_contract.version_files import CONTENT_TYPES, PICTURE_KINDS

from ...core.errors import BundleNotFound, StoreUnavailable
from ...core.files.contract import Fetch, Kind, LocalFiles
from ...core.files.verified import VerifiedFiles
from ...core.http.conditional import choose_range, is_known
from ...core.http.errors import error, log_error
from ...core.http.http import CORS, NOSNIFF, FileBody, Headers, Request, Response
from ..catalog import BundleRef, Catalog

PREFIX = "/cdn/"

# For bundles that have to be fetched or verified; started on first use.
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
    def __init__(
        self,
        catalog: Catalog,
        bundles: LocalFiles,
        fetch: Fetch | None = None,
        on_damage: Callable[[Path], None] = lambda _: None,
    ) -> None:
        """`fetch` is for bundles in an object store; `on_damage` gets damaged files in a thread."""
        self._catalog = catalog
        self._bundles = bundles
        self._fetch = fetch
        self._on_damage = on_damage
        self.files = VerifiedFiles()
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
        is_intact = self.files.find(path, *found)
        if is_intact is None:
            is_intact = await self._is_intact(path, found)
        if self._fetch is not None and not is_intact:
            try:
                await self._have(self._fetch, path, found, file.kind)
            except StoreUnavailable as problem:
                log_error(request, problem)
                sentence = "This bundle cannot be fetched just now. Try again soon."
                return error(503, sentence, ("retry-after", "5"), CORS)
            except BundleNotFound:
                pass
            is_intact = await self._is_intact(path, found)
        if not is_intact:
            _log.error("A bundle is missing or damaged; run doctor.", file=str(path))
            return error(503, "This bundle is missing or damaged on the server.", CORS)
        headers = [_TYPES[file.kind], *_BUNDLE, ("etag", f'"{found.sha256_hash}"')]
        return _send(request, FileBody(path, 0, found.size_bytes, is_whole=True), headers)

    async def _is_intact(self, path: Path, found: BundleRef) -> bool:
        """Whether the file has the published bytes. It is read when it is first used."""
        known = self.files.find(path, *found)
        if known is None:
            await self._shared(path, partial(self._verify, path, found.sha256_hash))
            known = self.files.find(path, *found)
        return known is True

    def _verify(self, path: Path, sha256_hash: str) -> None:
        if not self.files.verify(path, sha256_hash) and path.exists():
            self._on_damage(path)

    async def _have(self, fetch: Fetch, path: Path, found: BundleRef, kind: Kind) -> None:
        if path not in self._fetching:
            self.fetches += 1
        await self._shared(path, partial(fetch, found.sha256_hash, kind, found.size_bytes))

    async def _shared(self, path: Path, work: Callable[[], None]) -> None:
        """In a thread; concurrent requests for the same file share it."""
        working = self._fetching.get(path)
        if working is None:
            working = asyncio.get_running_loop().run_in_executor(self._threads, work)
            self._fetching[path] = working
            working.add_done_callback(lambda _: self._fetching.pop(path, None))
        await asyncio.shield(working)


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
