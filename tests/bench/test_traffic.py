"""The requests, and both ends of the connection: the client and the bare server."""

import socket
import threading
from pathlib import Path

import pytest
from bench.client import Connection, request
from bench.machine import ANYWHERE
from bench.measures import BenchError
from bench.options import Options
from bench.rig import Rig
from bench.servers import running_bare
from bench.traffic import (
    detail_target,
    detail_targets,
    ever_new_searches,
    everyday_searches,
    registry_target,
    search_target,
    terms_by_kind,
)

pytestmark = pytest.mark.slow


def test_searches_are_many_and_all_different() -> None:
    everyday, ever_new = everyday_searches(), ever_new_searches()

    assert len(set(everyday)) == len(everyday) > 200
    assert len(set(ever_new)) == len(ever_new) > 5_000


def test_terms_of_every_kind_are_many_and_all_different() -> None:
    kinds = terms_by_kind(10_000)

    assert list(kinds) == ["common", "rare", "two-term", "two-letter"]
    for terms in kinds.values():
        assert len(set(terms)) == len(terms) > 400
    assert all(len(term) == 2 for term in kinds["two-letter"])
    assert all(len(term.split()) == 2 for term in kinds["two-term"])


def test_addresses_are_written_as_the_api_reads_them() -> None:
    assert detail_target(123) == "/api/v1/widgets/scope-00001/widget-0000123"
    assert registry_target(123) == "/api/widgets/scope-00001/registry.json"
    assert search_target("a b", 2, "1.4.0") == (
        "/api/v1/widgets/search?q=a+b&limit=20&page=2&compatSdk=1.4.0"
    )


def test_details_are_all_widgets_or_as_many_different_ones_as_wanted() -> None:
    assert len(set(detail_targets(100, 1_000))) == 100
    assert len(set(detail_targets(1_000, 100))) == 100


def test_client_puts_responses_together_that_come_in_pieces() -> None:
    pieces = [b"HTTP/1.1 200 OK\r\nContent-", b'Length: 5\r\nETag: "x"\r\n\r', b"\nhel", b"lo"]
    known = [b'HTTP/1.1 304 Not Modified\r\netag: "x"\r\n\r\n']
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_response, args=(server, [pieces, known]))
        thread.start()
        with Connection(server.getsockname()[1]) as connection:
            first = connection.ask(request("/"))
            second = connection.ask(request("/", {"If-None-Match": first.header("etag")}))
        thread.join()

    assert (first.status, first.body, first.header("etag")) == (200, b"hello", '"x"')
    assert (second.status, second.body) == (304, b"")
    with pytest.raises(BenchError, match="no content-type header"):
        second.header("content-type")


def test_client_reads_chunked_responses_to_their_end() -> None:
    pieces = [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", b"lo\r\n0\r\n\r\n"]
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_response, args=(server, [pieces, pieces]))
        thread.start()
        with Connection(server.getsockname()[1]) as connection:
            replies = [connection.ask(request("/")) for _ in range(2)]
        thread.join()

    assert [it.body for it in replies] == [b"5\r\nhello\r\n0\r\n\r\n"] * 2


def _response(server: socket.socket, responses: list[list[bytes]]) -> None:
    connection, _ = server.accept()
    with connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for pieces in responses:
            connection.recv(1 << 16)
            for piece in pieces:
                connection.sendall(piece)


def test_bare_server_is_our_server_with_nothing_but_ready_bytes(tmp_path: Path) -> None:
    rig = Rig(Options(), ANYWHERE, tmp_path)
    for status, body in ((200, b"ready bytes"), (304, b"")):
        with running_bare(rig, status, body) as server:
            reply = server.ask(request("/anything"))

            assert (reply.status, reply.body) == (status, body)
            assert len(server.worker_pids()) == 1
