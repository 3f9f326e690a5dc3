"""The binding for tests and for other servers: ASGI 3."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from typing import Any

from ..http import EventBody, FileBody, Headers, LargeBody, PlainRequest, StreamBody, Worker

_CHUNK_BYTES = 1 << 16

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class AsgiApp:
    def __init__(self, build: Callable[[], Worker]) -> None:
        self._build = build

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        if scope["type"] != "http":
            raise ValueError(f"This application speaks HTTP, not {scope['type']}.")
        headers = _HeaderLines(scope["headers"])
        client: tuple[str, int] = scope.get("client") or ("", 0)
        query = scope.get("query_string", b"").decode("utf-8", "surrogateescape")
        request = PlainRequest(
            scope["method"], scope["path"], query, headers, f"{client[0]}:{client[1]}"
        )
        status, response_headers, body = await self._answer(request, _received(receive))
        chunks: Iterable[bytes] = ()
        length: int | None = None
        match body:
            case bytes():
                chunks, length = [body], len(body)
            case EventBody():
                await _send_events(receive, send, status, response_headers, body)
                return
            case StreamBody() if request.method != "HEAD":
                await _send_stream(send, status, response_headers, body)
                return
            case FileBody():
                chunks, length = _chunks(body), body.stop - body.start
            case LargeBody() if request.method == "HEAD":
                length = body.length
            case LargeBody():
                chunks = await body.pieces()
                length = sum(map(len, chunks))
        raw = [(key.encode(), value.encode("latin-1")) for key, value in response_headers]
        if length is not None:
            raw.append((b"content-length", str(length).encode()))
        await send({"type": "http.response.start", "status": status, "headers": raw})
        if request.method != "HEAD":
            for chunk in chunks:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        self._answer, close, end_streams = self._build()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        end_streams()
        close()
        await send({"type": "lifespan.shutdown.complete"})


async def _send_events(
    receive: Receive, send: Send, status: int, headers: Headers, body: EventBody
) -> None:
    raw = [(key.encode(), value.encode("latin-1")) for key, value in headers]
    await send({"type": "http.response.start", "status": status, "headers": raw})

    async def wait_for_the_end() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        body.end()

    waiting = asyncio.ensure_future(wait_for_the_end())
    try:
        async for piece in body.pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    finally:
        body.end()
        waiting.cancel()


async def _send_stream(send: Send, status: int, headers: Headers, body: StreamBody) -> None:
    raw = [(key.encode(), value.encode("latin-1")) for key, value in headers]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    async for piece in body.pieces:
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


class _HeaderLines:
    """All header lines of a request; a name may occur several times."""

    def __init__(self, raw: Iterable[tuple[bytes, bytes]]) -> None:
        self._lines = [(key.decode("latin-1"), value.decode("latin-1")) for key, value in raw]
        self._first = dict(reversed(self._lines))

    def get(self, key: str, /) -> str | None:
        return self._first.get(key)

    def items(self) -> Iterable[tuple[str, str]]:
        return self._lines


async def _received(receive: Receive) -> AsyncIterator[bytes]:
    is_more = True
    while is_more:
        message = await receive()
        if message["type"] != "http.request":  # The client has disconnected.
            return
        yield message.get("body", b"")
        is_more = message.get("more_body", False)


def _chunks(file: FileBody) -> Iterator[bytes]:
    with file.path.open("rb") as source:
        source.seek(file.start)
        left = file.stop - file.start
        while left and (chunk := source.read(min(left, _CHUNK_BYTES))):
            left -= len(chunk)
            yield chunk
