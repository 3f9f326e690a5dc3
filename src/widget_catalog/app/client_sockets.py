"""The sockets of clients: how much the kernel has accepted for each, and options for all.

The server does not expose the sockets of requests; they are found by their peer. Only on Linux:
elsewhere none are found.
"""

import contextlib
import os
import socket
import struct
import sys
from collections.abc import Iterator

_SIOCOUTQ = 0x5411
_BYTES_ACKED_AT = 120
_TCP_INFO_BYTES = _BYTES_ACKED_AT + 8

# A client that reads nothing for this long is gone, or only pretends to read.
STALLED_MS = 30_000
# What the kernel buffers for a client that does not read, besides data in flight.
_UNSENT_BYTES = 1 << 17


def configure(listening: socket.socket) -> None:
    """Let the kernel close connections whose client reads nothing, with small send buffers; and
    send the beginning of a file at once. It is written after the headers, and would wait until the
    client has acknowledged these, for 40 ms.

    Connections inherit these options from the listening socket.
    """
    if sys.platform == "linux" and listening.family in (socket.AF_INET, socket.AF_INET6):
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, STALLED_MS)
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _UNSENT_BYTES)


class ClientSocket:
    """The server's end of a connection. It belongs to the server, which may close it any time."""

    def __init__(self, descriptor: int, client: str) -> None:
        self._descriptor = descriptor
        self._client = client

    def written_bytes(self) -> int | None:
        """How much the kernel has accepted for this client so far; None: the connection ended."""
        if sys.platform != "linux":
            return None
        from fcntl import ioctl

        try:
            with _borrowed(self._descriptor) as seen:
                if _name(seen) != self._client:
                    return None
                # In this order: bytes acknowledged between the two calls are then counted too low,
                # not too high.
                info = seen.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
                waiting = ioctl(seen, _SIOCOUTQ, bytes(4))
            acknowledged: int = struct.unpack_from("=Q", info, _BYTES_ACKED_AT)[0]
            queued: int = struct.unpack("=i", waiting)[0]
        except (OSError, struct.error):
            return None
        return acknowledged + queued


def find_socket(client: str) -> ClientSocket | None:
    """The connection of the client with this address, as the server writes it."""
    if sys.platform != "linux":
        return None
    # In reverse: with many connections, the newest have the highest descriptors.
    for descriptor in sorted(map(int, os.listdir("/proc/self/fd")), reverse=True):  # noqa: PTH208
        # Many descriptors are not connections, or have been closed.
        with contextlib.suppress(OSError), _borrowed(descriptor) as seen:
            if _name(seen) == client:
                return ClientSocket(descriptor, client)
    return None


@contextlib.contextmanager
def _borrowed(descriptor: int) -> Iterator[socket.socket]:
    seen = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, fileno=descriptor)
    try:
        yield seen
    finally:
        seen.detach()


def _name(seen: socket.socket) -> str:
    peer = seen.getpeername()
    if not isinstance(peer, tuple) or len(peer) < 2:
        return ""
    host, port = peer[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
