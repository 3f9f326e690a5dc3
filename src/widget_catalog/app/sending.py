"""Sends large and endless bodies with backpressure, so that unread ones take little memory.

The server copies what it is given and queues it without a limit. So a worker gives it at most a
few megabytes that the kernel has not accepted yet, for all clients together; beyond that, each
response gets its next chunk when the previous one is sent. Where the sockets of clients are not
found, responses are sent without checking.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterable, AsyncIterator, Iterator, Sequence
from typing import Any

from granian.rsgi import ProtocolClosed  # type: ignore[attr-defined]

from ..core.http.http import EventBody, Headers
from .client_sockets import ClientSocket, find_socket

# Limits for unsent bytes: of all responses of a worker together, and the minimum for each.
_AHEAD_BYTES = 8 << 20
_AHEAD_OF_EACH_BYTES = 1 << 16
_PIECE_BYTES = 1 << 16
# Delays between checks; they grow while a client reads nothing.
_FIRST_WAIT_S = 0.001
_LONGEST_WAIT_S = 1


class LargeResponses:
    """The large responses that a worker is sending."""

    def __init__(self) -> None:
        self._ahead_bytes = 0

    async def send(
        self, client: str, protocol: Any, status: int, headers: Headers, pieces: Sequence[bytes]
    ) -> None:
        size = sum(map(len, pieces))
        transport = protocol.response_stream(status, [*headers, ("content-length", str(size))])
        # A client may disconnect at any moment.
        with contextlib.suppress(ProtocolClosed):
            if self._ahead_bytes + size <= _AHEAD_BYTES:
                await self._send_at_once(protocol, transport, pieces, size)
            else:
                await self._send_paced(client, protocol, transport, _one_by_one(_sliced(pieces)))

    async def send_stream(
        self,
        client: str,
        protocol: Any,
        status: int,
        headers: Headers,
        pieces: AsyncIterable[bytes],
    ) -> None:
        """Send a body that is generated meanwhile."""
        transport = protocol.response_stream(status, headers)
        with contextlib.suppress(ProtocolClosed):
            # A body without a length ends when this returns, so it must not wait for the client.
            slices = (it async for piece in pieces for it in _sliced((piece,)))
            await self._send_paced(client, protocol, transport, slices, is_awaited=False)

    async def _send_at_once(
        self, protocol: Any, transport: Any, pieces: Sequence[bytes], size: int
    ) -> None:
        self._ahead_bytes += size
        try:
            for piece in _sliced(pieces):
                await transport.send_bytes(piece)
            await _ended(protocol)
        finally:
            self._ahead_bytes -= size

    async def _send_paced(
        self,
        client: str,
        protocol: Any,
        transport: Any,
        slices: AsyncIterable[bytes],
        *,
        is_awaited: bool = True,
    ) -> None:
        connection = find_socket(client)
        before = None if connection is None else connection.written_bytes()
        ended = asyncio.ensure_future(_ended(protocol))
        given = ahead = 0
        try:
            async for piece in slices:
                wait_s = _FIRST_WAIT_S
                while connection is not None and before is not None and self._is_enough(ahead):
                    written = connection.written_bytes()
                    if written is None:
                        break
                    left = given - (written - before)
                    self._ahead_bytes += left - ahead
                    ahead = left
                    if not self._is_enough(ahead):
                        break
                    await asyncio.wait([ended], timeout=wait_s)
                    if ended.done():
                        return
                    wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
                await transport.send_bytes(piece)
                given += len(piece)
                ahead += len(piece)
                self._ahead_bytes += len(piece)
            if is_awaited:
                await ended
        finally:
            self._ahead_bytes -= ahead
            ended.cancel()

    def _is_enough(self, ahead: int) -> bool:
        """Whether a response with this many unsent bytes has to wait."""
        return ahead > _AHEAD_OF_EACH_BYTES and self._ahead_bytes > _AHEAD_BYTES


async def _ended(protocol: Any) -> None:
    """Returns when the server has accepted the whole response, or the connection has ended."""
    await protocol.client_disconnect()


def _sliced(pieces: Sequence[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        for start in range(0, len(piece), _PIECE_BYTES):
            yield piece[start : start + _PIECE_BYTES]


async def _one_by_one(slices: Iterator[bytes]) -> AsyncIterator[bytes]:
    for piece in slices:
        yield piece


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
