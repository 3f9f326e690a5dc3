"""Uploads over HTTP: `PUT /uploads/{request}/index.js?expires=…&signature=…`, and nothing else."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qsl

from ..actions.request_version import announced_size
from ..actions.signed_uploads import PREFIX, is_signed
from ..bundles.store import Kind
from ..domain.errors import NotAllowed, NotFound, TooOften
from ..domain.networks import network_of
from .http import Body, Request, Response
from .internal.api import client_address
from .internal.call import Services, done
from .internal.failures import STATUSES, TooSlow, failure
from .public import error

_PATIENCE_S = 300
_WAIT_S = 5


class Uploads:
    def __init__(self, services: Services, threads: ThreadPoolExecutor) -> None:
        self._services = services
        self._threads = threads
        self._under_way: Counter[str] = Counter()

    async def answer(self, request: Request, body: Body) -> Response:
        if request.method != "PUT":
            return error(405, "A file can be put here, and nothing else.", ("allow", "PUT"))
        try:
            request_id, kind = self._signed(request)
            with self._one_of_few(network_of(client_address(self._services, request))):
                await self._receive(request_id, kind, body)
        except TimeoutError:
            return failure(TooSlow("The file did not come in time."))
        except tuple(STATUSES) as fault:
            return failure(fault)
        return done()

    async def _receive(self, request_id: str, kind: Kind, body: Body) -> None:
        loop = asyncio.get_running_loop()
        size = await loop.run_in_executor(
            self._threads, announced_size, self._services.store, request_id, kind
        )
        receiving = self._services.uploads.receive(request_id, kind, body, size)
        await asyncio.wait_for(receiving, _PATIENCE_S)

    @contextlib.contextmanager
    def _one_of_few(self, network: str) -> Iterator[None]:
        """TooOften, if this client has as many uploads under way as it may."""
        most = self._services.settings.max_parallel_uploads
        if most and self._under_way[network] >= most:
            raise TooOften(
                f"At most {most:,} files can be uploaded from your address at a time. Try again "
                f"in {_WAIT_S} s.",
                wait_s=_WAIT_S,
            )
        self._under_way[network] += 1
        try:
            yield
        finally:
            self._under_way[network] -= 1
            if not self._under_way[network]:
                del self._under_way[network]

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
