"""Files of versions over HTTP: `/cdn/@{scope}/{name}/{version}/index.js` or another path, sent from
disk.
"""

import asyncio
import contextlib
import contextvars
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import structlog

from widget_contract.version_files import CONTENT_TYPES, PICTURE_KINDS, parse_file_path

from ...core.errors import BundleNotFound, StoreUnavailable
from ...core.files.contract import (
    STORED_ENCODINGS,
    Encoding,
    Fetch,
    Kind,
    LocalFiles,
    is_encodable,
)
from ...core.files.verified_files import VerifiedFiles
from ...core.http.accept import choose_encoding
from ...core.http.conditional import choose_range, is_known
from ...core.http.errors import error, log_error
from ...core.http.http import CORS, NOSNIFF, FileBody, Headers, Request, Response
from ...core.tracing import part
from ..reading.catalog import CatalogReader
from ..reading.stored_files import FileRef

PREFIX = "/cdn/"

# For bundles that have to be fetched or verified; started on first use.
_THREADS = 4

_log = structlog.get_logger("widget_catalog.cdn")

_TYPES: dict[Kind, tuple[str, str]] = {
    kind: ("content-type", its if kind in PICTURE_KINDS else f"{its}; charset=utf-8")
    for kind, its in CONTENT_TYPES.items()
}
_FOR_GOOD = ("cache-control", "public, max-age=31536000, immutable")
# As long as a file is not compressed yet, caches on the way ask again soon.
_FOR_NOW = ("cache-control", "public, max-age=31536000, s-maxage=300, immutable")
_RANGES = ("accept-ranges", "bytes")
_VARY = ("vary", "accept-encoding")
_ANYWHERE: Headers = [("cross-origin-resource-policy", "cross-origin"), CORS, NOSNIFF]
_BUNDLE: Headers = [_FOR_GOOD, _RANGES, *_ANYWHERE]
_ENCODABLE: Headers = [*_BUNDLE, _VARY]
_NOT_YET_ENCODED: Headers = [_FOR_NOW, _RANGES, *_ANYWHERE, _VARY]
_ENCODED: Headers = [_FOR_GOOD, *_ANYWHERE, _VARY]

_ENCODINGS = tuple(STORED_ENCODINGS)
# How long a compressed form that is missing is not looked for again.
_MISSING_S = 5.0
_MOST_MISSING = 10_000

T = TypeVar("T")


class Cdn:
    def __init__(
        self,
        catalog: CatalogReader,
        bundles: LocalFiles,
        fetch: Fetch | None = None,
        on_damage: Callable[[Path], None] = lambda _: None,
        encode: Callable[[str, Kind, int], None] | None = None,
    ) -> None:
        """`fetch` is for bundles in an object store; `on_damage` gets damaged files in a thread;
        `encode` has a file compressed later. Without it, none are sent compressed.
        """
        self._catalog = catalog
        self._bundles = bundles
        self._fetch = fetch
        self._on_damage = on_damage
        self._encode = encode
        self.files = VerifiedFiles()
        self.fetches = 0
        # Apart from each other: a store that hangs does not hold up what is on this disk.
        self._reading = _SharedWork("bundles")
        self._fetching = _SharedWork("fetches")
        # Compressed forms that are not looked for until then.
        self._missing: dict[Path, float] = {}

    def close(self) -> None:
        self._reading.close()
        self._fetching.close()

    async def handle(self, request: Request) -> Response:
        if request.method == "OPTIONS":
            allowed = [("access-control-allow-methods", "GET, HEAD, OPTIONS")]
            allowed += [("access-control-allow-headers", "*")]
            return Response(204, [CORS, *allowed, NOSNIFF], None)
        if request.method not in ("GET", "HEAD"):
            sentence = "A bundle can be read, and nothing else; use GET, HEAD, OPTIONS."
            return error(405, sentence, ("allow", "GET, HEAD, OPTIONS"), CORS)
        file = parse_file_path(request.path[len(PREFIX) - 1 :])
        found = None if file is None else self._catalog.files.find(*file)
        if file is None or found is None:
            return error(404, f"There is no bundle at {request.path[:200]}.", CORS)
        revoked = self._catalog.find_revocation(file.scope, file.name, file.version)
        if revoked is not None:
            sentence = f"This version was revoked, and must not be used: {revoked.reason}"
            return error(410, sentence, ("cache-control", "no-store"), CORS)
        common, encoding = _BUNDLE, None
        if self._encode is not None and is_encodable(file.kind, found.size_bytes):
            common, encoding = _ENCODABLE, _choose(request)
        try:
            if encoding is not None:
                form = self._bundles.local_path(found.sha256_hash, file.kind, encoding)
                size_bytes = self.files.find_encoded(form, found.sha256_hash)
                if size_bytes is None:
                    size_bytes = await self._find_form(form, found, file.kind, encoding)
                if size_bytes:
                    sent = FileBody(form, 0, size_bytes, is_whole=True)
                    return _send_encoded(request, sent, found, file.kind, encoding)
                if size_bytes is None:
                    common = _NOT_YET_ENCODED
            path = self._bundles.local_path(found.sha256_hash, file.kind)
            is_intact = self.files.find(path, *found) or await self._is_had(path, found, file.kind)
        except StoreUnavailable as problem:
            log_error(request, problem)
            sentence = "This bundle cannot be fetched just now. Try again soon."
            return error(503, sentence, ("retry-after", "5"), CORS)
        if not is_intact:
            _log.error("A bundle is missing or damaged; run doctor.", file=str(path))
            return error(503, "This bundle is missing or damaged on the server.", CORS)
        headers = [_TYPES[file.kind], *common, ("etag", f'"{found.sha256_hash}"')]
        return _send(request, FileBody(path, 0, found.size_bytes, is_whole=True), headers)

    async def _find_form(
        self, form: Path, found: FileRef, kind: Kind, encoding: Encoding
    ) -> int | None:
        """The size of a compressed form, 0 if compressing does not pay off; None if it is not there
        yet. Raises StoreUnavailable if the file is not there either.
        """
        if self._missing.get(form, 0.0) >= time.monotonic():
            return None
        with part("file"):
            verify = partial(self.files.verify_encoded, form, encoding, *found)
            size_bytes = await self._reading.result(form, verify)
        if size_bytes is not None:
            return size_bytes
        fetch_or_encode = partial(self._fetch_or_encode, form, found, kind, encoding)
        fetching = self._fetching.begin(form, fetch_or_encode)
        path = self._bundles.local_path(found.sha256_hash, kind)
        # Nobody waits for an object store if the file itself is here.
        if self._fetch is not None and await self._is_here(path, found):
            return None
        with part("file"):
            return await asyncio.shield(fetching)

    def _fetch_or_encode(
        self, form: Path, found: FileRef, kind: Kind, encoding: Encoding
    ) -> int | None:
        """In a thread: replace a missing or damaged compressed form. Its size if it was fetched;
        otherwise it is made later.
        """
        sha256_hash, size_bytes = found
        if form.exists():
            self._on_damage(form)
        if self._fetch is not None:
            self.fetches += 1
            try:
                self._fetch(sha256_hash, kind, size_bytes, encoding)
                fetched = self.files.verify_encoded(form, encoding, sha256_hash, size_bytes)
                if fetched is not None:
                    return fetched
                form.unlink(missing_ok=True)
            except BundleNotFound:
                pass
            except StoreUnavailable:
                self._note_missing(form)
                raise
        self._note_missing(form)
        if self._encode is not None:
            self._encode(sha256_hash, kind, size_bytes)
        return None

    def _note_missing(self, form: Path) -> None:
        if len(self._missing) >= _MOST_MISSING:
            self._missing.clear()
        self._missing[form] = time.monotonic() + _MISSING_S

    async def _is_had(self, path: Path, found: FileRef, kind: Kind) -> bool:
        """Whether the file is here and intact, fetched if need be."""
        if await self._is_here(path, found):
            return True
        if self._fetch is None:
            return False
        with part("file"):
            fetch = partial(self._fetch_file, self._fetch, path, found, kind)
            return await self._fetching.result(path, fetch)

    async def _is_here(self, path: Path, found: FileRef) -> bool:
        """Whether the file on this disk has the published bytes. It is read when it is first used.

        The result is that of reading it, not of looking it up afterwards: another worker of this
        node may have replaced it by its own copy.
        """
        known = self.files.find(path, *found)
        if known is None:
            with part("file"):
                verify = partial(self._verify, path, found.sha256_hash)
                known = await self._reading.result(path, verify)
        return known

    def _fetch_file(self, fetch: Fetch, path: Path, found: FileRef, kind: Kind) -> bool:
        self.fetches += 1
        with contextlib.suppress(BundleNotFound):
            fetch(found.sha256_hash, kind, found.size_bytes)
            return self._verify(path, found.sha256_hash)
        return False

    def _verify(self, path: Path, sha256_hash: str) -> bool:
        is_intact = self.files.verify(path, sha256_hash)
        if not is_intact and path.exists():
            self._on_damage(path)
        return is_intact


class _SharedWork:
    """Work on files in threads. Concurrent requests for the same file share it."""

    def __init__(self, name: str) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix=name)
        self._begun: dict[Path, asyncio.Future[Any]] = {}

    def close(self) -> None:
        self._threads.shutdown()

    async def result(self, path: Path, work: Callable[[], T]) -> T:
        """Others still get it if the client of this request goes away."""
        return await asyncio.shield(self.begin(path, work))

    def begin(self, path: Path, work: Callable[[], T]) -> "asyncio.Future[T]":
        begun = self._begun.get(path)
        if begun is None:
            # The parts of the work belong to the request that it began for.
            in_context = partial(contextvars.copy_context().run, work)
            begun = asyncio.get_running_loop().run_in_executor(self._threads, in_context)
            self._begun[path] = begun
            begun.add_done_callback(lambda it: self._finish(path, it))
        return begun

    def _finish(self, path: Path, begun: "asyncio.Future[Any]") -> None:
        self._begun.pop(path, None)
        if not begun.cancelled():
            begun.exception()  # Retrieved here in case nobody waits.


def _choose(request: Request) -> Encoding | None:
    """The encoding to send. A part is always one of the file as it is."""
    accepted = request.headers.get("accept-encoding")
    if accepted is None or request.headers.get("range") is not None:
        return None
    return choose_encoding(accepted, _ENCODINGS)


def _send_encoded(
    request: Request, form: FileBody, found: FileRef, kind: Kind, encoding: Encoding
) -> Response:
    """A shared cache that has kept the file as it is, because it was not compressed yet, gets it
    compressed when it asks again.
    """
    etag = ("etag", f'"{found.sha256_hash}-{encoding}"')
    if is_known(request.headers, etag[1]):
        return Response(304, [*_ENCODED, etag], None)
    headers = [_TYPES[kind], *_ENCODED, ("content-encoding", encoding), etag]
    return Response(200, headers, form)


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
