"""Slow clients: they are disconnected eventually, and nobody waits for them."""

import contextlib
import socket
import threading
import time

import pytest

from support.service import Service
from support.wire import WireConnection, request

# The service's timeout for the head of a request is 15 s; the rest is for a busy machine.
_LET_GO_AFTER_S = 15
_AT_THE_LATEST_S = 30

_SLOW: dict[str, tuple[bytes, bytes]] = {
    "says nothing": (b"", b""),
    "says one letter": (b"P", b""),
    "begins like HTTP/2": (b"PRI * HT", b""),
    "stops in the first line": (b"GET /api/health HT", b""),
    "stops in a header": (b"GET /api/health HTTP/1.1\r\nHo", b""),
    "byte by byte in the path": (b"GET /", b"a"),
    "byte by byte in a header": (b"GET / HTTP/1.1\r\nX-Slow: ", b"a"),
    "a header at a time": (b"GET / HTTP/1.1\r\n", b"X-Slow: a\r\n"),
}


@pytest.mark.timeout(120)
def test_slow_clients_are_let_go_and_hold_nobody_up(unharmed_service: Service) -> None:
    took: dict[str, float] = {}
    port = unharmed_service.port

    def be_slow(name: str, first: bytes, then: bytes) -> None:
        took[name] = _time_until_let_go(port, first, then)

    clients = [threading.Thread(target=be_slow, args=(name, *sent)) for name, sent in _SLOW.items()]
    for client in clients:
        client.start()
    slowest = 0.0
    with WireConnection(port) as connection:
        while any(client.is_alive() for client in clients):
            began = time.monotonic()
            assert connection.ask("GET", "/api/v1/widgets/acme/clock").status == 200
            slowest = max(slowest, time.monotonic() - began)
            time.sleep(0.05)
    for client in clients:
        client.join()
    assert slowest < 5
    assert took.keys() == _SLOW.keys()
    for name, seconds in took.items():
        assert _LET_GO_AFTER_S - 1 < seconds < _AT_THE_LATEST_S, name


def _time_until_let_go(port: int, first: bytes, then: bytes) -> float:
    began = time.monotonic()
    with WireConnection(port, timeout_s=0.2) as slow, contextlib.suppress(ConnectionError):
        if first:
            slow.send(first)
        while time.monotonic() - began < _AT_THE_LATEST_S:
            with contextlib.suppress(TimeoutError):
                if not slow.socket.recv(1000):
                    break
            if then:
                slow.send(then)
    return time.monotonic() - began


def test_a_request_may_come_in_pieces(unharmed_service: Service) -> None:
    whole = request("GET", "/api/v1/widgets/search?q=clock", "Accept-Encoding: identity")
    with WireConnection(unharmed_service.port) as connection:
        connection.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.send(whole)
        expected = connection.response()
        for size in (1, 2, 7, 30):
            for start in range(0, len(whole), size):
                connection.send(whole[start : start + size])
            response = connection.response()
            assert (response.status, response.body) == (200, expected.body)
            assert response.headers["etag"] == expected.headers["etag"]


def test_who_reads_slowly_gets_every_byte(unharmed_service: Service) -> None:
    asked = 300
    with WireConnection(unharmed_service.port) as connection:
        sending = threading.Thread(
            target=connection.send, args=(request("GET", "/openapi.json") * asked,)
        )
        sending.start()
        time.sleep(1)  # By now all buffers are full.
        bodies = {connection.response().body for _ in range(asked)}
        sending.join()
    assert len(bodies) == 1
