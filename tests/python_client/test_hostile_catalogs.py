"""Catalogs that are down, busy, broken or malicious: the client reports the error, and stops."""

import contextlib
import gzip
import hashlib
import io
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.scripted import DROPPED, Scripted, scripted_server
from widget_catalog_client import (
    Catalog,
    CatalogUnavailable,
    FeedExpired,
    IntegrityError,
    InvalidRequest,
    PublishedFile,
    UnexpectedAnswer,
)
from widget_catalog_client.flows import EventParser

pytestmark = pytest.mark.slow

CHANGES = "/api/v1/widgets/changes"
REVOCATIONS = "/api/v1/widgets/revocations"
EMPTY = Scripted(200, {"revision": 7, "revocations": []})
BUSY = Scripted(503, {"error": "Try again."}, {"Retry-After": "0"})


def test_a_busy_catalog_is_asked_again() -> None:
    with scripted_server() as server, Catalog(server.url) as catalog:
        server.on("GET", REVOCATIONS, BUSY, DROPPED, EMPTY)
        assert catalog.revocations().revision == 7
        assert len(server.asked) == 3


def test_a_catalog_that_stays_busy_is_unavailable() -> None:
    with scripted_server() as server, Catalog(server.url, retries=1) as catalog:
        server.on("GET", REVOCATIONS, BUSY)
        with pytest.raises(CatalogUnavailable, match=r"^Try again\.$") as told:
            catalog.revocations()
        assert (told.value.retry_after, len(server.asked)) == (0, 2)


def test_nobody_waits_for_a_catalog_that_asks_for_too_much_patience() -> None:
    with scripted_server() as server, Catalog(server.url) as catalog:
        server.on("GET", REVOCATIONS, Scripted(429, {"error": "No."}, {"Retry-After": "3600"}))
        with pytest.raises(CatalogUnavailable) as told:
            catalog.revocations()
        assert (told.value.retry_after, len(server.asked)) == (3600, 1)


@pytest.mark.parametrize(
    "response",
    [
        Scripted(200, {"revision": "many"}),
        Scripted(200, b"<!doctype html>"),
        Scripted(200, b"\xff"),
        Scripted(200, b"[" * 100_000),
        Scripted(302, b"", {"Location": "https://elsewhere.example"}),
        Scripted(200, b"x", {"Content-Encoding": "gzip"}),
        Scripted(200, b"x", {"Content-Encoding": "br"}),
        # 2 GB of spaces in 2 MB.
        Scripted(200, gzip.compress(b" " * (1 << 20)) * 2000, {"Content-Encoding": "gzip"}),
    ],
    ids=["shape", "html", "bytes", "deep", "redirect", "not packed", "unknown packing", "bomb"],
)
def test_what_no_catalog_sends_is_named(response: Scripted) -> None:
    with scripted_server() as server, Catalog(server.url) as catalog:
        server.on("GET", REVOCATIONS, response)
        with pytest.raises(UnexpectedAnswer):
            catalog.revocations()


@contextlib.contextmanager
def raw_server(response: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that sends arbitrary bytes, on a real socket."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    with connection, contextlib.suppress(OSError):
                        connection.recv(65536)
                        response(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_an_endless_response_is_not_read_to_its_end() -> None:
    def endless(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        while True:
            connection.sendall(b" " * 65536)

    with (
        raw_server(endless) as url,
        Catalog(url) as catalog,
        pytest.raises(UnexpectedAnswer, match="sends more than"),
    ):
        catalog.settings()


def test_an_response_that_ends_half_way_is_no_response() -> None:
    def half(connection: socket.socket) -> None:
        connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n{"revision"')

    with (
        raw_server(half) as url,
        Catalog(url, retries=0) as catalog,
        pytest.raises(CatalogUnavailable, match="broke off"),
    ):
        catalog.revocations()


def test_silence_is_not_waited_for_for_ever() -> None:
    def silent(connection: socket.socket) -> None:
        connection.recv(1)

    with (
        raw_server(silent) as url,
        Catalog(url, retries=0, timeout_s=0.2) as catalog,
        pytest.raises(CatalogUnavailable, match="does not answer in time"),
    ):
        catalog.revocations()


@pytest.mark.parametrize("host", ["a..example", "xn--", "x" * 70, "127.0.0.1:1/\ud800"])
def test_an_address_that_cannot_be_encoded_is_named(host: str) -> None:
    with Catalog("http://127.0.0.1:1") as catalog, pytest.raises(InvalidRequest):
        catalog.download_bundle(published(f"http://{host}", b"x"), io.BytesIO())


def published(url: str, stated: bytes, size: int | None = None) -> PublishedFile:
    digest = hashlib.sha256(stated).hexdigest()
    where = f"{url}/index.js"
    return PublishedFile("index.js", where, size or len(stated), digest, "", "text/javascript")


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        (b"other", r"has the SHA-256 [0-9a-f]{64}; the catalog states"),
        (b"bytes and more", r"has more than the 5 bytes stated"),
        (b"byt", r"has 3 bytes; the catalog states 5"),
    ],
)
def test_bytes_that_are_not_those_stated_are_not_kept(sent: bytes, says: str) -> None:
    with scripted_server() as server, Catalog(server.url) as catalog:
        server.on("GET", "/index.js", Scripted(200, sent))
        file = io.BytesIO()
        with pytest.raises(IntegrityError, match=says):
            catalog.download_bundle(published(server.url, b"bytes"), file)
        assert file.getvalue() == b""


def test_a_download_that_breaks_off_starts_over() -> None:
    with scripted_server() as server, Catalog(server.url) as catalog:
        server.on("GET", "/index.js", DROPPED, Scripted(200, b"bytes"))
        file = io.BytesIO()
        catalog.download_bundle(published(server.url, b"bytes"), file)
        assert file.getvalue() == b"bytes"


def test_a_bundle_without_end_is_left_at_the_size_stated() -> None:
    def endless(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            connection.sendall(b"x" * 65536)

    with (
        raw_server(endless) as url,
        Catalog(url) as catalog,
        pytest.raises(IntegrityError, match="has more than the 1000 bytes stated"),
    ):
        catalog.download_bundle(published(url, b"x", 1000), io.BytesIO())


def change(seq: int) -> dict[str, Any]:
    return {
        "seq": seq,
        "at": "2026-01-31T09:05:00.000Z",
        "type": "published",
        "id": "acme/clock",
        "version": "1.0.0",
        "listed": True,
    }


def page(first: int, last: int) -> Scripted:
    found = [change(it) for it in range(first, last + 1)]
    return Scripted(200, {"changes": found, "next": last, "newest": last})


def test_where_there_is_no_stream_the_catalog_is_polled() -> None:
    """It rejects streams, or does not support them and responds with a page."""
    refused = Scripted(503, {"error": "Too many."}, {"Retry-After": "1"})
    for no_stream in (refused, page(2, 1)):
        with scripted_server() as server, Catalog(server.url) as catalog:
            server.on("GET", CHANGES, page(1, 2), no_stream, page(3, 2), page(3, 4))
            watching = catalog.watch(0, poll_s=0.01)
            assert [next(watching).seq for _ in range(4)] == [1, 2, 3, 4]
            kinds = [it.headers["accept"] for it in server.asked]
            assert kinds.count("text/event-stream") == 1


def test_a_stream_that_dies_in_the_middle_of_an_event_is_taken_up_again() -> None:
    half = b'id: 3\ndata: {"seq": 3, "at": "2026-01'
    stream = Scripted(200, half, {"Content-Type": "text/event-stream"})
    with scripted_server() as server, Catalog(server.url) as catalog:
        server.on("GET", CHANGES, page(1, 2), stream, page(3, 3))
        watching = catalog.watch(0)
        assert [next(watching).seq for _ in range(3)] == [1, 2, 3]
        watching.close()  # type: ignore[attr-defined]


def test_missed_changes_are_reported() -> None:
    gone = Scripted(410, {"error": "Not all changes are kept."})
    for response in (gone, page(1, 0)):  # Second response: its newest change is older than ours.
        with scripted_server() as server, Catalog(server.url) as catalog:
            server.on("GET", CHANGES, response)
            with pytest.raises(FeedExpired):
                next(iter(catalog.watch(5)))


@pytest.mark.parametrize(
    "events",
    [b"data: what?\n\n", b"data: " + b"x" * (2 << 20), b"data:\n" * (1 << 20)],
    ids=["not a change", "endless", "endlessly empty"],
)
def test_a_stream_of_something_else_is_named(events: bytes) -> None:
    stream = Scripted(200, events, {"Content-Type": "text/event-stream"})
    with scripted_server() as server, Catalog(server.url) as catalog:
        server.on("GET", CHANGES, page(1, 0), stream)
        with pytest.raises(UnexpectedAnswer):
            next(iter(catalog.watch(0)))


def test_an_event_is_received_byte_by_byte_in_linear_time() -> None:
    parser = EventParser()
    parser.feed(b"data: " + b"x" * 500_000)
    start = time.process_time()
    for _ in range(20_000):
        parser.feed(b"x")
    assert time.process_time() - start < 2  # Quadratic: 20 s.


def test_a_feed_that_does_not_advance_is_asked_with_pauses() -> None:
    found = {"changes": [change(3)], "next": 5, "newest": 9}
    closed = Scripted(200, b": hello\n\n", {"Content-Type": "text/event-stream"})
    ended = Scripted(410, {"error": "Start over."})
    stuck = Scripted(200, found)
    with scripted_server() as server, Catalog(server.url) as catalog:
        server.on("GET", CHANGES, stuck, closed, stuck, closed, ended)
        start = time.monotonic()
        with pytest.raises(FeedExpired):
            next(iter(catalog.watch(5)))
        assert time.monotonic() - start > 0.9


@given(
    data=st.lists(st.text("abc {}:", min_size=1), max_size=5),
    end=st.sampled_from(["\n", "\r\n"]),
    cut=st.integers(1, 7),
)
def test_events_are_the_same_however_the_stream_is_cut_up(
    data: list[str], end: str, cut: int
) -> None:
    lines = "".join(f": still here{end}id: 1{end}data: {it}{end}{end}" for it in data).encode()
    parser = EventParser()
    pieces = [lines[at : at + cut] for at in range(0, len(lines), cut)]
    assert [event.decode() for piece in pieces for event in parser.feed(piece)] == data
