"""Thousands of malicious requests: each gets a response, none does harm. More: REQUESTS=50000."""

import asyncio
import contextlib
import json
import os
import random
import socket
import struct
from collections import Counter
from urllib.parse import unquote

import pytest

from support.service import Service
from support.wire import WireConnection, WireResponse, request, take_response
from wire.hostile_requests import Hostile, HostileRequests

_REQUESTS = int(os.environ.get("REQUESTS", "6000"))
_BROKEN_OFF = _REQUESTS // 15
_CONNECTIONS = 6
_BATCH = 50

_GOOD = request("GET", "/api/v1/widgets/acme/clock")
_WIDGET = b"/api/v1/widgets/acme/clock"

# The only requests that the HTTP library itself answers, with a bare status, before they reach our
# code: they are not HTTP, or larger than it reads. The status comes first.
_NOT_HTTP: list[tuple[str, int, bytes]] = [
    ("raw bytes that are not UTF-8 in the path", 400, b"GET /\xff\xfe HTTP/1.1\r\n\r\n"),
    ("raw bytes that are not UTF-8 in the query", 400, b"GET /?q=\xff HTTP/1.1\r\n\r\n"),
    ("a NUL in the path", 400, b"GET /a\0b HTTP/1.1\r\n\r\n"),
    ("a control character in the path", 400, b"GET /a\x07b HTTP/1.1\r\n\r\n"),
    ("a space in the path", 400, b"GET /a b HTTP/1.1\r\n\r\n"),
    ("no path", 400, b"GET HTTP/1.1\r\n\r\n"),
    ("only a query", 400, b"GET ?a HTTP/1.1\r\n\r\n"),
    ("a method that is no token", 400, b"G(T / HTTP/1.1\r\n\r\n"),
    ("no method", 400, b" / HTTP/1.1\r\n\r\n"),
    ("HTTP/0.9", 400, b"GET /\r\n\r\n"),
    ("HTTP/1.2", 400, b"GET / HTTP/1.2\r\n\r\n"),
    ("HTTP/2.0", 400, b"GET / HTTP/2.0\r\n\r\n"),
    ("no version number", 400, b"GET / HTTP/x\r\n\r\n"),
    ("another protocol", 400, b"SSH-2.0-OpenSSH_9.2\r\n\r\n"),
    ("a TLS greeting", 400, bytes.fromhex("16030100c8010000c40303") + bytes(200)),
    ("a space in a header's name", 400, b"GET / HTTP/1.1\r\nA B: c\r\n\r\n"),
    ("a header without a colon", 400, b"GET / HTTP/1.1\r\nABC\r\n\r\n"),
    ("a header without a name", 400, b"GET / HTTP/1.1\r\n: c\r\n\r\n"),
    ("a NUL in a header", 400, b"GET / HTTP/1.1\r\nA: b\0c\r\n\r\n"),
    ("a header over two lines", 400, b"GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n"),
    ("a length that is no number", 400, b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n"),
    ("a negative length", 400, b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"),
    ("a length past all numbers", 400, b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % 2**70),
    (
        "two lengths",
        400,
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    ),
    ("an unknown transfer encoding", 400, b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n"),
    ("101 headers", 431, b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 101 + b"\r\n"),
    ("a head of 300 KB", 431, b"GET / HTTP/1.1\r\nA: " + b"b" * 300_000 + b"\r\n\r\n"),
    ("an address of 70 KB", 414, b"GET /?" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n"),
]
_CHECKED = tuple(f"/api/v1/widgets/{it}" for it in ("search", "changes", "resolve"))
_OAUTH = tuple(f"/api/auth/oauth2/{it}" for it in ("authorize", "token", "userinfo"))


@pytest.mark.timeout(280)
def test_no_request_however_odd_is_an_error_of_ours(unharmed_service: Service) -> None:
    seen = asyncio.run(_throw_all(unharmed_service.port))

    assert seen.total() >= _REQUESTS
    # All kinds of responses occurred: the requests are not all rejected at the same point.
    assert seen.keys() >= {200, 204, 304, 400, 401, 404, 405, 414}


async def _throw_all(port: int) -> "Counter[int]":
    each = _REQUESTS // _CONNECTIONS + 1
    async with asyncio.TaskGroup() as group:
        throwing = [
            group.create_task(_throw(port, HostileRequests(seed), each))
            for seed in range(_CONNECTIONS)
        ]
    return sum((task.result() for task in throwing), Counter())


async def _throw(port: int, requests: HostileRequests, wanted: int) -> "Counter[int]":
    seen: Counter[int] = Counter()
    while seen.total() < wanted:
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.setblocking(False)
            batch = [requests.proper()]
            while len(batch) < _BATCH and not batch[-1].is_last:
                batch.append(requests.proper())
            # A request that may close the connection is sent after all previous ones are answered.
            *pipelined, last = batch
            for together in (pipelined, [last]):
                for response in await _ask(connection, together):
                    seen[response.status] += 1
    return seen


async def _ask(connection: socket.socket, batch: list[Hostile]) -> list[WireResponse]:
    """Send them all at once, and compare every response with its request."""
    data = b"".join(it.data for it in batch)
    loop = asyncio.get_running_loop()
    sending = asyncio.ensure_future(loop.sock_sendall(connection, data))
    received = bytearray()
    responses = []
    for thrown in batch:
        responses.append(await _read(connection, received, thrown))
        _assert_proper(thrown, responses[-1])
    await sending
    assert not received
    return responses


async def _read(connection: socket.socket, received: bytearray, thrown: Hostile) -> WireResponse:
    loop = asyncio.get_running_loop()
    while (response := take_response(received, thrown.method)) is None:
        some = await asyncio.wait_for(loop.sock_recv(connection, 1 << 18), 60)
        assert some, f"No answer to {thrown.data[:300]!r}, but {bytes(received[:300])!r}"
        received += some
    return response


def _assert_proper(thrown: Hostile, response: WireResponse) -> None:
    about = f"{thrown.data[:300]!r} got {response.status} {response.body[:300]!r}"
    assert response.status < 500, about
    # The HTTP library's own errors do not have this header; ours do.
    assert response.headers["x-content-type-options"] == "nosniff", about
    assert thrown.status in (None, response.status, 304), about
    assert (response.status == 405) <= ("allow" in response.headers), about
    path = unquote(thrown.path)
    is_api = path.startswith("/api/")
    is_open = path.startswith("/api/v1/widgets/")
    if is_api:
        assert (response.headers.get("access-control-allow-origin") == "*") == is_open, about
    if is_api and response.status not in (204, 304):
        assert response.headers["content-type"] == "application/json; charset=utf-8", about
    if is_api and response.status >= 400 and thrown.method != "HEAD":
        told = json.loads(response.body)
        # On these three, OAuth errors have a code in addition to the message.
        is_oauth = path in _OAUTH
        assert list(told) == ["error"] + ["error_description"] * is_oauth, about
        assert isinstance(told["error"], str), about
        assert told["error"], about
    if response.status == 401:
        assert is_api, about
        assert not path.startswith("/api/v1/"), about
    if response.status == 400:
        assert path in _CHECKED or path.startswith("/api/auth/"), about


@pytest.mark.parametrize(
    ("status", "data"), [pytest.param(it[1], it[2], id=it[0]) for it in _NOT_HTTP]
)
def test_what_is_not_http_is_refused_after_all_before_it_was_answered(
    unharmed_service: Service, status: int, data: bytes
) -> None:
    with WireConnection(unharmed_service.port) as connection:
        connection.send(_GOOD * 3 + data)

        for _ in range(3):
            assert connection.response().status == 200
        refused = connection.response()
        assert (refused.status, refused.body) == (status, b"")
        assert connection.rest() == b""


@pytest.mark.parametrize(
    "data",
    [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0",
        b"POST %b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n" % _WIDGET,
        b"POST %b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n" % _WIDGET,
        b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"0\r\n\r\n" % _WIDGET,
        b"GET / HTTP/1.1\r\nA: " + b"b" * 5_000_000,
        b"GET /" + b"b" * 5_000_000,
        b"\r\n" * 5_000 + b"x",
        bytes(range(256)) * 40,
    ],
    ids=lambda data: repr(data[:40]),
)
def test_what_is_hardly_http_ends_the_connection_at_the_latest_after_one_response(
    unharmed_service: Service, data: bytes
) -> None:
    received = bytearray()
    # A client that continues sending after the error may find the connection closed, and the error
    # lost.
    with WireConnection(unharmed_service.port) as connection, contextlib.suppress(OSError):
        connection.send(data)
        connection.socket.shutdown(socket.SHUT_WR)
        received += connection.rest()
    response = take_response(received)
    assert response is None or response.status in (200, 400, 431)
    assert not received


def test_thousands_of_connections_that_break_off_do_no_harm(unharmed_service: Service) -> None:
    """Partial requests, half-closed sockets, resets, noise."""
    choose = random.Random(5)
    made = HostileRequests(6)
    for _ in range(_BROKEN_OFF):
        with WireConnection(unharmed_service.port) as connection:
            data = b"".join(made.proper().data for _ in range(choose.choice([0, 1, 3])))
            if choose.random() < 0.3:
                data += choose.randbytes(choose.choice([1, 50, 5_000]))
            ending = choose.choice(["reset", "half", "whole"])
            if ending == "reset":
                linger = struct.pack("ii", 1, 0)
                connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            with contextlib.suppress(OSError):  # The other side may have closed it.
                connection.send(data[: choose.randrange(len(data) + 1)])
                if ending == "half":
                    connection.socket.shutdown(socket.SHUT_WR)
