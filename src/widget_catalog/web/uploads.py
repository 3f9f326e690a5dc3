"""Uploads over HTTP: `PUT /uploads/{request}/index.js?expires=…&signature=…`, and nothing else."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar
from urllib.parse import parse_qsl

from ..actions.request_version import announced_size
from ..actions.signed_uploads import PREFIX, is_signed
from ..bundles.contract import Kind, Upload
from ..domain.errors import Busy, NotAllowed, NotFound, TooOften
from ..domain.networks import network_of
from .kit.call import Services, done
from .kit.dispatcher import client_address
from .kit.errors import STATUSES, TooSlow, error, failure, log_fault
from .kit.http import Body, Request, Response

# For a whole file, and for the next bytes of it.
_PATIENCE_S = 300
_STALLED_S = 30
_WAIT_S = 5
# What a worker receives at the same time: announced bytes of all files together. One is always
# received, however large.
_MOST_BYTES = 64 << 20
# They wait for the disk; nothing else waits for them.
_THREADS = 4

_T = TypeVar("_T")


class Uploads:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="uploads")
        self._under_way: Counter[str] = Counter()
        self._under_way_bytes = 0

    def close(self) -> None:
        self._threads.shutdown()

    async def answer(self, request: Request, body: Body) -> Response:
        if request.method != "PUT":
            return error(405, "Only PUT is allowed at an upload address.", ("allow", "PUT"))
        try:
            request_id, kind = self._signed(request)
            with self._one_of_few(network_of(client_address(self._services, request))):
                await self._receive(request_id, kind, body)
        except TimeoutError:
            return failure(TooSlow("The file did not come in time."))
        except tuple(STATUSES) as fault:
            log_fault(request, fault)
            return failure(fault)
        return done()

    async def _receive(self, request_id: str, kind: Kind, body: Body) -> None:
        size = await self._in_thread(announced_size, self._services.store, request_id, kind)
        with self._few_bytes(size):
            uploads = self._services.uploads
            upload = await self._in_thread(uploads.receive, request_id, kind, size)
            try:
                await asyncio.wait_for(self._write(upload, body), _PATIENCE_S)
                await self._in_thread(upload.finish)
            finally:
                await self._in_thread(upload.give_up)

    async def _write(self, upload: Upload, body: Body) -> None:
        """The next bytes are asked for when the last ones are written: none pile up."""
        chunks = aiter(body)
        with contextlib.suppress(StopAsyncIteration):
            while True:
                chunk = await asyncio.wait_for(_next(chunks), _STALLED_S)
                await self._in_thread(upload.write, chunk)

    async def _in_thread(self, call: Callable[..., _T], *arguments: object) -> _T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, call, *arguments)

    @contextlib.contextmanager
    def _one_of_few(self, network: str) -> Iterator[None]:
        """TooOften, if this client has as many uploads under way as it may."""
        most = self._services.settings.max_parallel_uploads
        if most and self._under_way[network] >= most:
            raise TooOften(
                f"At most {most:,} files can be uploaded from your address at a time. Try again "
                f"in {_WAIT_S} seconds.",
                wait_s=_WAIT_S,
            )
        self._under_way[network] += 1
        try:
            yield
        finally:
            self._under_way[network] -= 1
            if not self._under_way[network]:
                del self._under_way[network]

    @contextlib.contextmanager
    def _few_bytes(self, size: int) -> Iterator[None]:
        """Busy, if as much is being received as there may be."""
        if self._under_way_bytes and self._under_way_bytes + size > _MOST_BYTES:
            raise Busy(
                f"Many files are being uploaded just now. Try again in {_WAIT_S} seconds.",
                wait_s=_WAIT_S,
            )
        self._under_way_bytes += size
        try:
            yield
        finally:
            self._under_way_bytes -= size

    def _signed(self, request: Request) -> tuple[str, Kind]:
        """Which file of which request the address is for, if it is one of ours."""
        query = dict(parse_qsl(request.query_string[:500]))
        kind: Kind
        match request.path[len(PREFIX) :].split("/"):
            case [request_id, "index.js"]:
                kind = "js"
            case [request_id, "index.css"]:
                kind = "css"
            case _:
                raise NotFound("There is nothing to upload at this address.")
        services = self._services
        given = (query.get("expires", ""), query.get("signature", ""))
        if not is_signed(services.upload_key, request_id, kind, *given, services.store.now_ms()):
            raise NotAllowed("This upload address is not valid, or no longer. Request a new one.")
        return request_id, kind


async def _next(chunks: AsyncIterator[bytes]) -> bytes:
    return await anext(chunks)
