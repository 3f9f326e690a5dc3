"""The binding to the server: RSGI on Granian."""

import asyncio
from collections.abc import Callable
from typing import Any

from ..core.http.content import WHOLE_BYTES
from ..core.http.errors import wrong_host
from ..core.http.http import (
    Body,
    EventBody,
    FileBody,
    Headers,
    LargeBody,
    Request,
    Response,
    StreamBody,
    Worker,
    never_now,
)
from ..core.http.middleware import identified
from .sending import LargeResponses, send_events


class RsgiApp:
    """Created in every worker process by `build`, once its event loop exists."""

    def __init__(self, build: Callable[[], Worker]) -> None:
        self._build = build
        self._large = LargeResponses()

    def __rsgi_init__(self, _loop: asyncio.AbstractEventLoop) -> None:
        self._handler, self._close, self._end_streams, self._respond_now = self._build()

    def __rsgi_del__(self, _loop: asyncio.AbstractEventLoop) -> None:
        self._close()

    def drain(self) -> None:
        """Ask every client to send its next request over a new connection."""
        handler = self._handler
        self._end_streams()

        async def handle_last(request: Request, body: Body) -> Response:
            response = await handler(request, body)
            return response._replace(headers=[*response.headers, ("connection", "close")])

        self._handler = handle_last
        self._respond_now = never_now

    async def __rsgi__(self, scope: Any, protocol: Any) -> None:
        headers = scope.headers  # Each access makes a new object.
        hosts = headers.get_all("host")
        if len(hosts) == 1 or (not hosts and scope.http_version != "1.1"):
            response = self._respond_now(scope, headers)
        else:  # RFC 9112, section 3.2.
            response = identified(scope, wrong_host(scope.path))
        if response is None or not _send_now(protocol, response):
            await self._handle(scope, protocol)

    async def _handle(self, scope: Any, protocol: Any) -> None:
        status, headers, body = await self._handler(scope, protocol)
        if body is None:
            protocol.response_empty(status, headers)
        elif isinstance(body, bytes):
            size = len(body)
            if 0 < size <= WHOLE_BYTES:
                protocol.response_bytes(status, headers, body)
            elif size:
                await self._large.send(scope.client, protocol, status, headers, (body,))
            else:  # The server would omit this length in a response to HEAD.
                protocol.response_empty(status, [*headers, *_length(0)])
        elif isinstance(body, LargeBody):
            await self._send_large(scope, protocol, status, headers, body)
        elif isinstance(body, EventBody):
            await send_events(scope.client, protocol, status, headers, body)
        elif isinstance(body, StreamBody) and scope.method == "HEAD":
            protocol.response_empty(status, headers)
        elif isinstance(body, StreamBody):
            await self._large.send_stream(scope.client, protocol, status, headers, body.pieces)
        else:
            _send_file(scope.method, protocol, status, headers, body)

    async def _send_large(
        self, scope: Any, protocol: Any, status: int, headers: Headers, body: LargeBody
    ) -> None:
        if scope.method == "HEAD":
            protocol.response_empty(status, [*headers, *_length(body.length)])
            return
        pieces = await body.pieces()
        if sum(map(len, pieces)) <= WHOLE_BYTES:
            protocol.response_bytes(status, headers, b"".join(pieces))
        else:
            await self._large.send(scope.client, protocol, status, headers, pieces)


def _send_now(protocol: Any, response: Response) -> bool:
    """Send it if its body is complete and small, or None."""
    status, headers, body = response
    if body is None:
        protocol.response_empty(status, headers)
    elif isinstance(body, bytes) and 0 < len(body) <= WHOLE_BYTES:
        protocol.response_bytes(status, headers, body)
    else:
        return False
    return True


def _length(size: int | None) -> Headers:
    return [] if size is None else [("content-length", str(size))]


def _send_file(method: str, protocol: Any, status: int, headers: Headers, file: FileBody) -> None:
    described = [*headers, *_length(file.stop - file.start)]
    if method == "HEAD":
        protocol.response_empty(status, described)
    elif file.is_whole:
        protocol.response_file(status, described, str(file.path))
    else:
        protocol.response_file_range(status, described, str(file.path), file.start, file.stop)
