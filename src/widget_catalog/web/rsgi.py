"""The binding that `serve` runs: RSGI, as Granian speaks it."""

import asyncio
from collections.abc import Callable
from typing import Any

from .http import Body, FileBody, Request, Response, Worker


class RsgiApp:
    """Built anew in every worker process by `build`, when its event loop is there."""

    def __init__(self, build: Callable[[], Worker]) -> None:
        self._build = build

    def __rsgi_init__(self, _loop: asyncio.AbstractEventLoop) -> None:
        self._answer, self._close = self._build()

    def __rsgi_del__(self, _loop: asyncio.AbstractEventLoop) -> None:
        self._close()

    def drain(self) -> None:
        """Ask every client to send its next request over a new connection."""
        answer = self._answer

        async def answer_last(request: Request, body: Body) -> Response:
            response = await answer(request, body)
            return response._replace(headers=[*response.headers, ("connection", "close")])

        self._answer = answer_last

    async def __rsgi__(self, scope: Any, protocol: Any) -> None:
        status, headers, body = await self._answer(scope, protocol)
        if body is None:
            protocol.response_empty(status, headers)
        elif isinstance(body, bytes):
            protocol.response_bytes(status, headers, body)
        else:
            _send_file(scope.method, protocol, status, headers, body)


def _send_file(
    method: str, protocol: Any, status: int, headers: list[tuple[str, str]], file: FileBody
) -> None:
    length = ("content-length", str(file.stop - file.start))
    if method == "HEAD":
        protocol.response_empty(status, [*headers, length])
    elif file.is_whole:
        protocol.response_file(status, [*headers, length], str(file.path))
    else:
        protocol.response_file_range(
            status, [*headers, length], str(file.path), file.start, file.stop
        )
