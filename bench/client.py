"""A keep-alive HTTP/1.1 connection over a plain socket, with as little Python per request as
possible.
"""

import socket
from collections.abc import Mapping
from typing import NamedTuple, Self

from .measures import BenchError

_HEAD_END = b"\r\n\r\n"
_LENGTH = b"\r\ncontent-length:"
_CHUNKED = b"\r\ntransfer-encoding: chunked"
_LAST_CHUNK = b"\r\n0\r\n\r\n"
_TIMEOUT_S = 60.0


class Reply(NamedTuple):
    status: int
    head: bytes
    body: bytes

    def header(self, name: str) -> str:
        """The value of a header; BenchFault if there is none."""
        for line in self.head.split(b"\r\n"):
            key, _, value = line.partition(b":")
            if key.lower() == name.encode():
                return value.strip().decode()
        raise BenchError(f"An answer has no {name} header: {self.head.decode()!r}")


def request(target: str, headers: Mapping[str, str] | None = None, method: str = "GET") -> bytes:
    """A complete request as sent over the wire."""
    given = {"Host": "127.0.0.1", **(headers or {})}
    if method == "POST":
        given.setdefault("Content-Length", "0")
    fields = "".join(f"{name}: {value}\r\n" for name, value in given.items())
    return f"{method} {target} HTTP/1.1\r\n{fields}\r\n".encode()


class Connection:
    """Sends one request after another. The body of a chunked response is returned as sent."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=_TIMEOUT_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self, raw: bytes) -> Reply:
        self._socket.sendall(raw)
        received = self._more()
        while (end := received.find(_HEAD_END)) < 0:
            received += self._more()
        head = received[:end]
        status = int(head[9:12])
        if _CHUNKED in head.lower():
            while not received.endswith(_LAST_CHUNK):
                received += self._more()
            return Reply(status, head, received[end + 4 :])
        wanted = end + 4 + (0 if status in (204, 304) else _content_length(head))
        while len(received) < wanted:
            received += self._more()
        return Reply(status, head, received[end + 4 :])

    def _more(self) -> bytes:
        some = self._socket.recv(1 << 20)
        if not some:
            raise ConnectionError("The server closed the connection.")
        return some


def _content_length(head: bytes) -> int:
    at = head.lower().find(_LENGTH)
    if at < 0:
        raise BenchError(f"An answer does not state its length: {head.decode()!r}")
    return int(head[at + len(_LENGTH) :].split(b"\r\n", 1)[0])
