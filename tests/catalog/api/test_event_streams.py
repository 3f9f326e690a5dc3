"""GET /api/v1/widgets/changes as server-sent events, over real sockets."""

import json
import re
import socket
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.folders import filled_folder
from support.service import Service, running_service, wait_for
from support.widgets import import_widgets, widget_line
from widget_catalog.catalog.api.event_streams import MAX_PER_CLIENT
from widget_catalog.catalog.node.node import Node, open_node

pytestmark = pytest.mark.slow

CHANGES = "/api/v1/widgets/changes"
STREAM = {"Accept": "text/event-stream"}
MAX = 40 + MAX_PER_CLIENT


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled_folder(tmp_path_factory.mktemp("streams") / "data", widget_line("acme/first"))


@pytest.fixture(scope="module")
def service(data: Path) -> Iterator[Service]:
    settings = {
        "max_event_streams": MAX,
        "trust_forwarded_for": "true",
    }
    given = [it for key, value in settings.items() for it in ("--set", f"{key}={value}")]
    with running_service(data, "--workers", "1", *given) as running:
        yield running


@pytest.fixture(scope="module")
def node(data: Path) -> Iterator[Node]:
    """Another process: the service learns of its writes through shared memory."""
    opened = open_node(data)
    yield opened
    opened.store.close()


def connect(service: Service, query: str = "", **headers: str) -> socket.socket:
    port = int(service.url.rpartition(":")[2])
    opened = socket.create_connection(("127.0.0.1", port), timeout=60)
    lines = [f"GET {CHANGES}?{query} HTTP/1.1", "Host: x", "Accept: text/event-stream"]
    lines += [f"{key.replace('_', '-')}: {value}" for key, value in headers.items()]
    opened.sendall("\r\n".join([*lines, "", ""]).encode())
    return opened


def read_until(opened: socket.socket, wanted: bytes) -> bytes:
    received = b""
    while wanted not in received:
        piece = opened.recv(65_536)
        assert piece, received
        received += piece
    return received


def events(client: httpx.Client, count: int, query: str = "", **headers: str) -> list[Any]:
    """The next events: numbers and data."""
    found: list[Any] = []
    with client.stream("GET", f"{CHANGES}?{query}", headers=STREAM | headers) as response:
        assert response.status_code == 200
        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert response.headers["access-control-allow-origin"] == "*"
        number = ""
        for line in response.iter_lines():
            if line.startswith("id: "):
                number = line.removeprefix("id: ")
            elif line.startswith("data: "):
                found.append((int(number), json.loads(line.removeprefix("data: "))))
                if len(found) == count:
                    return found
    return found


def newest(client: httpx.Client) -> int:
    return int(client.get(CHANGES).json()["newest"])


def test_what_was_missed_comes_first_and_is_what_json_says(service: Service, node: Node) -> None:
    import_widgets(node, *[widget_line(f"missed/w{i}") for i in range(700)])
    with service.client() as client:
        last = newest(client)
        since = last - 650
        found = events(client, 650, f"since={since}")
        resumed = events(client, 2, "since=0", **{"Last-Event-ID": str(last - 2)})
        pages = client.get(f"{CHANGES}?since={since}&limit=1000").json()["changes"]

    assert [data for _, data in found] == pages
    assert [number for number, _ in found] == [it["seq"] for it in pages]
    assert [number for number, _ in resumed] == [last - 1, last]


@pytest.mark.parametrize("back", [0, 3])
def test_a_stream_that_breaks_before_its_first_event_loses_nothing(
    service: Service, node: Node, back: int
) -> None:
    import_widgets(node, *[widget_line(f"before-{back}/w{i}") for i in range(back)])
    with service.client() as client:
        last = newest(client)
    query = f"since={last - back}" if back else ""
    with connect(service, query) as opened:
        opening, _, rest = read_until(opened, b"\n\n").partition(b"\n\n")
    number = re.search(rb"^id: (\d+)$", opening, re.MULTILINE)
    assert number is not None, opening + rest
    assert b"data:" not in opening
    import_widgets(node, widget_line(f"meanwhile/w{back}"))

    with service.client() as client:
        found = events(client, back + 1, query, **{"Last-Event-ID": number[1].decode()})

    assert [number for number, _ in found] == [*range(last - back + 1, last + 2)]
    assert found[-1][1]["id"] == f"meanwhile/w{back}"


def test_every_listener_hears_of_a_change_at_once(service: Service, node: Node) -> None:
    listeners = [connect(service) for _ in range(MAX)]
    try:
        for listener in listeners:
            read_until(listener, b"follow the changes")
        with service.client() as client:
            last = newest(client)
            refused = client.get(CHANGES, headers=STREAM)
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        assert list(refused.json()) == ["error"]

        import_widgets(node, widget_line("heard/by-all"))
        began = time.monotonic()
        for listener in listeners:
            assert f"id: {last + 1}\ndata: ".encode() in read_until(listener, b"heard/by-all")
        assert time.monotonic() - began < 10
    finally:
        for listener in listeners:
            listener.close()


def test_one_address_takes_only_its_share(service: Service) -> None:
    opened: list[socket.socket] = []

    def status(address: str, *, stays: bool = False) -> int:
        stream = connect(service, X_Forwarded_For=address)
        found = int(read_until(stream, b"\r\n\r\n").split()[1])
        if stays and found == 200:
            opened.append(stream)
        else:
            stream.close()
        return found

    def is_let_in(address: str) -> bool:
        return status(address, stays=True) == 200

    # A whole /64 is one client.
    try:
        for number in range(MAX_PER_CLIENT):
            # Streams of the previous test may still be open.
            wait_for(partial(is_let_in, f"2001:db8::{number}"))
        assert status("2001:db8::ffff") == 503
        with service.client() as client:
            refused = client.get(CHANGES, headers=STREAM | {"X-Forwarded-For": "2001:db8::1"})
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        assert refused.json() == {
            "error": "You have too many event streams open here. Try again, or ask without one."
        }
        others = ("192.0.2.7", "2001:db8:0:1::1", "127.0.0.1")
        wait_for(lambda: [status(it) for it in others] == [200, 200, 200])
    finally:
        for stream in opened:
            stream.close()
    wait_for(lambda: status("2001:db8::1") == 200)


def test_those_who_leave_make_room(service: Service, node: Node) -> None:
    def is_let_in() -> bool:
        with connect(service) as opened:
            return b" 200 " in opened.recv(1000)

    wait_for(is_let_in)
    import_widgets(node, widget_line("heard/by-nobody"))
    wait_for(is_let_in)


def test_open_streams_do_not_keep_the_service_from_stopping(tmp_path: Path) -> None:
    data = filled_folder(tmp_path / "data", widget_line())
    with running_service(data, "--workers", "1") as service:
        with connect(service) as opened:
            read_until(opened, b"follow the changes")
            began = time.monotonic()
            assert service.stop() == 0
            assert opened.recv(65_536) in (b"", b"0\r\n\r\n")
        assert time.monotonic() - began < 20
        assert "Traceback" not in service.log
