"""What HAProxy does with requests in flight when their node is found to be down."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from support.haproxy import haproxy_before
from support.service import wait_for

_CALLBACK = "/api/auth/oidc/callback"


class DyingNode(ThreadingHTTPServer):
    """A node that passes no health check any more once a read and a change are in flight."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.in_flight: set[str] = set()
        self.attempts: Counter[str] = Counter()
        self.is_down = threading.Event()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: DyingNode

    def do_GET(self) -> None:
        if self.path.startswith("/healthz/"):
            if len(self.server.in_flight) < 2:
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()
            self.close_connection = True
        elif self.path in (_CALLBACK, "/refused"):
            self.server.attempts[self.path] += 1
            self.send_error(503)
        elif self.path == "/long":
            self.server.in_flight.add("read")
            self.send_response(200)
            self.send_header("Connection", "close")
            self.end_headers()
            while not self.server.is_down.is_set():
                self.wfile.write(b".")
                time.sleep(0.05)
            self.wfile.write(b"end")
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        self.server.in_flight.add("change")
        self.server.is_down.wait()
        time.sleep(30)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def node() -> Iterator[DyingNode]:
    with DyingNode() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_a_read_is_completed_and_a_change_ended_when_the_node_is_down(
    node: DyingNode, tmp_path: Path
) -> None:
    folder = tmp_path / "haproxy"
    with (
        haproxy_before([node.server_address[1]], folder) as port,
        ThreadPoolExecutor(2) as clients,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=25) as client,
    ):
        read = clients.submit(client.get, "/long")
        change = clients.submit(client.post, "/api/v1/widgets/acme/clock")
        wait_for(lambda: " is DOWN" in (folder / "haproxy.log").read_text())
        assert change.result().status_code in (502, 503)
        assert not read.done()
        node.is_down.set()
        assert read.result().content.endswith(b"end")


def test_a_code_of_an_identity_provider_is_sent_once(node: DyingNode, tmp_path: Path) -> None:
    with (
        haproxy_before([node.server_address[1]], tmp_path / "haproxy") as port,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=25) as client,
    ):
        assert [client.get(it).status_code for it in ("/refused", _CALLBACK)] == [503, 503]
    assert node.attempts["/refused"] > 1
    assert node.attempts[_CALLBACK] == 1
