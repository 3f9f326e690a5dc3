"""Sends large bodies with backpressure, so that unread ones take little memory.

The server copies what it is given and queues it without a limit. So a worker gives it at most a
few megabytes that the kernel has not accepted yet, for all clients together; beyond that, each
response gets its next chunk when the previous one is sent.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterable, AsyncIterator, Iterator, Sequence
from typing import Any

from granian.rsgi import ProtocolClosed  # type: ignore[attr-defined]

from ..http import Headers
from .sockets import find_socket

# Limits for unsent bytes: of all responses of a worker together, and the minimum for each.
_AHEAD_BYTES = 8 << 20
_AHEAD_OF_EACH_BYTES = 1 << 16
_PIECE_BYTES = 1 << 16
# Delays between checks; they grow while a client reads nothing.
_FIRST_WAIT_S = 0.001
_LONGEST_WAIT_S = 1


class LargeAnswers:
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
                await self._send_paced(client, protocol, transport, _one_by_one(pieces))

    async def send_stream(
        self,
        client: str,
        protocol: Any,
        status: int,
        headers: Headers,
        pieces: AsyncIterable[bytes],
    ) -> None:
        """The same for a body that is generated while it is sent."""
        transport = protocol.response_stream(status, headers)
        with contextlib.suppress(ProtocolClosed):
            # A body without a length ends when this returns, so it must not wait for the client.
            await self._send_paced(client, protocol, transport, pieces, is_awaited=False)

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
        pieces: AsyncIterable[bytes],
        *,
        is_awaited: bool = True,
    ) -> None:
        connection = find_socket(client)
        before = None if connection is None else connection.written_bytes()
        ended = asyncio.ensure_future(_ended(protocol))
        given = ahead = 0
        try:
            async for piece in _sliced_stream(pieces):
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


async def _sliced_stream(pieces: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    async for piece in pieces:
        for part in _sliced((piece,)):
            yield part


async def _one_by_one(pieces: Sequence[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece
