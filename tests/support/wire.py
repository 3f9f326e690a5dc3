"""Raw HTTP/1.1 over a socket, for what no client library would send or show."""

import contextlib
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Self

from support.service import Service

_NO_BODY = {204, 304}
_WORKER_START_TIMEOUT_S = 60


class WireResponse(NamedTuple):
    """A raw response: header names in lower case, the body not decoded."""

    status: int
    headers: dict[str, str]
    body: bytes


def take_response(received: bytearray, method: str = "GET") -> WireResponse | None:
    """Take the first complete response out of these bytes; None if it is incomplete.

    The service sends a content length with every body; a response without one fails here.
    """
    end = received.find(b"\r\n\r\n")
    if end < 0:
        return None
    first, *lines = bytes(received[:end]).split(b"\r\n")
    version, status_text, _ = first.split(b" ", 2)
    assert version in (b"HTTP/1.1", b"HTTP/1.0"), first
    status = int(status_text)
    if status == 100:  # An interim response.
        del received[: end + 4]
        return take_response(received, method)
    headers: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(b":")
        headers[name.decode("ascii").lower()] = value.strip().decode("latin-1")
    assert "transfer-encoding" not in headers, headers
    # Another one in each response: tests/app/test_request_ids.py tests it.
    headers.pop("x-request-id", None)
    has_body = method != "HEAD" and status not in _NO_BODY
    length = int(headers["content-length"]) if has_body else 0
    start = end + 4
    if len(received) < start + length:
        return None
    body = bytes(received[start : start + length])
    del received[: start + length]
    return WireResponse(status, headers, body)


class WireConnection:
    """A connection that sends exactly the given bytes."""

    def __init__(self, port: int, timeout_s: float = 30) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout_s)
        self.received = bytearray()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def own_port(self) -> int:
        return int(self.socket.getsockname()[1])

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def response(self, method: str = "GET") -> WireResponse:
        """The next response; fails if the connection is closed before it is complete."""
        while True:
            response = take_response(self.received, method)
            if response is not None:
                return response
            some = self.socket.recv(1 << 16)
            if not some:
                raise EOFError(f"The connection ended after {bytes(self.received[:200])!r}")
            self.received += some

    def ask(self, method: str, address: str, *headers: str) -> WireResponse:
        self.send(request(method, address, *headers))
        return self.response(method)

    def rest(self) -> bytes:
        """Everything until the other side closes the connection."""
        with contextlib.suppress(ConnectionResetError):
            while some := self.socket.recv(1 << 16):
                self.received += some
        return bytes(self.received)

    def close(self) -> None:
        self.socket.close()


def request(method: str, address: str, *headers: str) -> bytes:
    lines = [f"{method} {address} HTTP/1.1", "Host: catalog.example", *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1")


def worker_of(service: Service, connection: WireConnection) -> int:
    """The process at the other end. Call this after a response: it is accepted by then."""
    inode = _inode(service.port, connection.own_port)
    for pid in service.worker_pids():
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                if str(descriptor.readlink()) == f"socket:[{inode}]":
                    return pid
    raise LookupError(f"No worker holds the connection from port {connection.own_port}.")


@contextlib.contextmanager
def connections_to_every_worker(
    service: Service, each: int = 1
) -> Iterator[dict[int, list[WireConnection]]]:
    """Connections by serving process, this many to each worker."""
    found: dict[int, list[WireConnection]] = {pid: [] for pid in service.worker_pids()}
    with contextlib.ExitStack() as opened:
        deadline = time.monotonic() + _WORKER_START_TIMEOUT_S
        while any(len(it) < each for it in found.values()):
            assert time.monotonic() < deadline, f"A worker takes on no connection: {found}"
            connection = WireConnection(service.port)
            assert connection.ask("GET", "/api/version").status == 200
            held = found[worker_of(service, connection)]
            if len(held) < each:
                held.append(opened.enter_context(connection))
            else:
                connection.close()
                time.sleep(0.005)  # The other workers may still be starting.
        yield found


def _inode(local_port: int, remote_port: int) -> str:
    """Of the socket between these ports, as listed by Linux: addresses and ports are in hex."""
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        columns = line.split()
        ports = tuple(int(address.partition(":")[2], 16) for address in columns[1:3])
        if ports == (local_port, remote_port):
            return columns[9]
    raise LookupError(f"There is no connection from {remote_port} to {local_port}.")
