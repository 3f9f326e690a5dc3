"""The binding that `serve` uses: RSGI on Granian."""

import asyncio
from collections.abc import Callable
from typing import Any

from ..http import (
    Body,
    EventBody,
    FileBody,
    Headers,
    LargeBody,
    Request,
    Response,
    StreamBody,
    Worker,
)
from ..large_content import WHOLE_BYTES
from .event_answers import send_events
from .large_answers import LargeAnswers


class RsgiApp:
    """Created in every worker process by `build`, once its event loop exists."""

    def __init__(self, build: Callable[[], Worker]) -> None:
        self._build = build
        self._large = LargeAnswers()

    def __rsgi_init__(self, _loop: asyncio.AbstractEventLoop) -> None:
        self._answer, self._close, self._end_streams = self._build()

    def __rsgi_del__(self, _loop: asyncio.AbstractEventLoop) -> None:
        self._close()

    def drain(self) -> None:
        """Ask every client to send its next request over a new connection."""
        answer = self._answer
        self._end_streams()

        async def answer_last(request: Request, body: Body) -> Response:
            response = await answer(request, body)
            return response._replace(headers=[*response.headers, ("connection", "close")])

        self._answer = answer_last

    async def __rsgi__(self, scope: Any, protocol: Any) -> None:
        status, headers, body = await self._answer(scope, protocol)
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
