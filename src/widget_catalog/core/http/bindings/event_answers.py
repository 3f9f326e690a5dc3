"""Sends an event stream while its client is connected and reads it."""

import asyncio
import contextlib
from typing import Any

from granian.rsgi import ProtocolClosed  # type: ignore[attr-defined]

from ..http import EventBody, Headers
from .sockets import ClientSocket, find_socket

# The server's output queue is unbounded. After this many bytes, we check how much was sent; a
# client that lags behind by more than the limit is disconnected, and reconnects.
_LOOKED_AT_BYTES = 1 << 16
_MAX_BEHIND_BYTES = 1 << 17


async def send_events(
    client: str, protocol: Any, status: int, headers: Headers, body: EventBody
) -> None:
    transport = protocol.response_stream(status, headers)
    gone = asyncio.ensure_future(protocol.client_disconnect())
    gone.add_done_callback(lambda _: body.end())
    reader = _Reader(client)
    try:
        with contextlib.suppress(ProtocolClosed):
            async for piece in body.pieces:
                await transport.send_bytes(piece)
                if reader.is_behind(len(piece)):
                    return
    finally:
        body.end()
        gone.cancel()


class _Reader:
    """How far a client is behind."""

    def __init__(self, client: str) -> None:
        self._client = client
        self._connection: ClientSocket | None = None
        self._given = self._looked_at = 0

    def is_behind(self, more_bytes: int) -> bool:
        self._given += more_bytes
        if self._given - self._looked_at < _LOOKED_AT_BYTES:
            return False
        self._looked_at = self._given
        self._connection = self._connection or find_socket(self._client)
        written = None if self._connection is None else self._connection.written_bytes()
        return written is not None and self._given - written > _MAX_BEHIND_BYTES
