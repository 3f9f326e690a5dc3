"""Retries where they are harmless, and clear errors where they cannot help."""

import contextlib
import gzip
import socket
import ssl
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from support.scripted import DROPPED, Scripted, ScriptedServer
from widget_cli.errors import ExitCode, ToolError
from widget_cli.responses import object_in
from widget_cli.transport import SMALL_BYTES, Transport

BUSY = Scripted(503, {"error": "The catalog cannot be written just now."})
FINE = Scripted(body={"ok": True})


class Pauses(list[float]):
    """Records pauses instead of waiting."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def ask(
    server: ScriptedServer, pauses: Pauses, method: str = "GET", *, is_repeatable: bool = True
) -> dict[str, object]:
    with Transport(pause=pauses, timeout_s=0.5) as transport:
        reply = transport.send(method, f"{server.url}/x", is_repeatable=is_repeatable)
        return object_in(reply, server.url)


@pytest.mark.parametrize("error", [BUSY, DROPPED, Scripted(502, b"<html>"), Scripted(504, b"")])
def test_what_may_be_repeated_is_repeated_until_it_works(
    server: ScriptedServer, error: Scripted
) -> None:
    server.on("GET", "/x", error, error, FINE)
    pauses = Pauses()
    assert ask(server, pauses) == {"ok": True}
    assert len(server.asked) == 3
    assert 0.3 < pauses[0] < pauses[1] < 1.3


@pytest.mark.parametrize("error", [BUSY, DROPPED])
def test_what_may_not_be_repeated_is_sent_once(server: ScriptedServer, error: Scripted) -> None:
    server.on("POST", "/x", error, FINE)
    with pytest.raises(ToolError) as caught:
        ask(server, Pauses(), "POST", is_repeatable=False)
    assert caught.value.exit_code == ExitCode.UNREACHABLE
    assert len(server.asked) == 1


def test_a_error_that_lasts_is_reported_after_four_attempts(server: ScriptedServer) -> None:
    server.on("GET", "/x", BUSY)
    with pytest.raises(ToolError, match="cannot be written just now") as caught:
        ask(server, Pauses())
    assert (caught.value.exit_code, len(server.asked)) == (ExitCode.UNREACHABLE, 4)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_too_many_requests_wait_as_long_as_they_are_asked_to(
    server: ScriptedServer, method: str
) -> None:
    limited = Scripted(429, {"error": "Too often."}, {"Retry-After": "7"})
    server.on(method, "/x", limited, FINE)
    pauses = Pauses()
    assert ask(server, pauses, method, is_repeatable=method == "GET") == {"ok": True}
    assert pauses == [7]


def test_a_wait_that_is_too_long_is_left_to_the_person(server: ScriptedServer) -> None:
    server.on("GET", "/x", Scripted(429, {"error": "Too often."}, {"Retry-After": "3600"}))
    pauses = Pauses()
    with pytest.raises(ToolError, match="Too often") as caught:
        ask(server, pauses)
    assert (caught.value.hint, pauses) == ("Try again in 3,600 seconds.", [])
    assert caught.value.exit_code == ExitCode.LIMITED


def test_no_connection_is_tried_again_even_for_what_may_not_be_repeated() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # Nobody listens there, and the port stays reserved.
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/x"
        pauses = Pauses()
        with Transport(pause=pauses) as transport, pytest.raises(ToolError) as caught:
            transport.send("POST", address, is_repeatable=False)
    assert (caught.value.exit_code, len(pauses)) == (ExitCode.UNREACHABLE, 3)
    assert "connection refused" in caught.value.sentence


def test_an_response_that_does_not_come_is_reported(server: ScriptedServer) -> None:
    server.on("POST", "/x", Scripted(delay_s=0.8))
    with pytest.raises(ToolError, match="the request timed out"):
        ask(server, Pauses(), "POST", is_repeatable=False)


@pytest.mark.parametrize(
    "strange",
    [
        Scripted(200, b"<!doctype html><p>Sign in to the Wi-Fi"),
        Scripted(404, b"<html>nginx</html>", {"Content-Type": "text/html"}),
        Scripted(200, [1, 2]),
        Scripted(200, b"\xff\xfe"),
        Scripted(200, b"[" * 100_000),
        Scripted(401, b"Proxy says no"),
    ],
)
def test_what_no_catalog_says_is_reported(server: ScriptedServer, strange: Scripted) -> None:
    server.on("GET", "/x", strange)
    with pytest.raises(ToolError, match="does not respond like a Widget Catalog") as caught:
        ask(server, Pauses())
    assert caught.value.exit_code == ExitCode.UNREACHABLE


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, ExitCode.FAILED),
        (401, ExitCode.NOT_SIGNED_IN),
        (403, ExitCode.NOT_ALLOWED),
        (404, ExitCode.NOT_FOUND),
        (409, ExitCode.CONFLICT),
        (413, ExitCode.INVALID_WIDGET),
        (500, ExitCode.FAILED),
        (503, ExitCode.UNREACHABLE),
    ],
)
def test_every_refusal_has_a_sentence_a_hint_and_an_exit_code(
    server: ScriptedServer, status: int, code: ExitCode
) -> None:
    server.on("GET", "/x", Scripted(status, {"error": "This is why."}))
    with pytest.raises(ToolError) as caught:
        ask(server, Pauses())
    error = caught.value
    assert (error.exit_code, error.status) == (code, status)
    assert error.sentence == "This is why." or status == 401
    assert error.hint


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (403, "This catalog requires a second factor of owners. Set one up at https://a, then …"),
        (429, "At most 20 versions an hour. Try again in 3,600 s, or ask the operator."),
        (503, "The catalog is busy with a long write. Try again soon."),
    ],
)
def test_a_sentence_that_says_what_to_do_gets_no_hint(
    server: ScriptedServer, status: int, sentence: str
) -> None:
    server.on("GET", "/x", Scripted(status, {"error": sentence}, {"Retry-After": "3600"}))
    with pytest.raises(ToolError) as caught:
        ask(server, Pauses())
    assert (caught.value.sentence, caught.value.hint) == (sentence, "")


def test_a_redirect_is_reported_and_not_followed(server: ScriptedServer) -> None:
    server.on("GET", "/x", Scripted(301, b"", {"Location": "https://new.example/x"}))
    with pytest.raises(ToolError, match=r"redirects to https://new\.example/x"):
        ask(server, Pauses())


def test_an_address_that_is_none_is_wrong_usage() -> None:
    with Transport() as transport, pytest.raises(ToolError) as caught:
        transport.send("PUT", "ftp://catalog.example/x", is_repeatable=True)
    assert caught.value.exit_code == ExitCode.USAGE


# At the lowest level: every test process makes it.
BOMB = gzip.compress(bytes(64 << 20), 1)


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (bytes(SMALL_BYTES + 1), {}),
        (BOMB, {"Content-Encoding": "gzip"}),
        (BOMB, {"Content-Encoding": "GZIP "}),
    ],
)
def test_an_response_that_is_too_large_is_not_read_to_its_end(
    server: ScriptedServer, body: bytes, headers: dict[str, str]
) -> None:
    server.on("GET", "/x", Scripted(200, body, headers))
    tracemalloc.start()
    with Transport() as transport, pytest.raises(ToolError) as caught:
        transport.send("GET", f"{server.url}/x", is_repeatable=True, max_bytes=SMALL_BYTES)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert caught.value.sentence.endswith("sent a response larger than 1.0 MiB.")
    assert caught.value.exit_code == ExitCode.UNREACHABLE
    assert peak_bytes < 16 << 20
    assert len(server.asked) == 1


def test_a_response_that_does_not_end_is_reported() -> None:
    with (
        dripping_port() as port,
        Transport(timeout_s=0.2, attempts=1) as transport,
        pytest.raises(ToolError) as caught,
    ):
        transport.send("GET", f"http://127.0.0.1:{port}/x", is_repeatable=True)
    late = f"127.0.0.1:{port} did not send its whole response within 2 seconds."
    assert (caught.value.sentence, caught.value.exit_code) == (late, ExitCode.UNREACHABLE)


@pytest.mark.parametrize("encoding", ["br", "zstd", "deflate", "gzip, gzip", "gzip"])
def test_an_encoding_that_was_not_asked_for_is_refused(
    server: ScriptedServer, encoding: str
) -> None:
    server.on("GET", "/x", Scripted(200, b"not packed", {"Content-Encoding": encoding}))
    with pytest.raises(ToolError, match="with an unsupported content encoding"):
        ask(server, Pauses())
    assert server.asked[0].headers["accept-encoding"] == "gzip"


@pytest.mark.parametrize("size", [0, 2, SMALL_BYTES - 2])
def test_a_packed_response_is_unpacked(server: ScriptedServer, size: int) -> None:
    body = b'{"x": 1}' + b" " * size
    headers = {"Content-Encoding": "gzip"}
    server.on("GET", "/x", Scripted(200, gzip.compress(body), headers))
    assert ask(server, Pauses()) == {"x": 1}


def test_https_at_a_port_for_http_is_reported(server: ScriptedServer) -> None:
    address = server.url.replace("http:", "https:")
    pauses = Pauses()
    with Transport(pause=pauses) as transport, pytest.raises(ToolError) as caught:
        transport.send("GET", f"{address}/x", is_repeatable=True)
    host = server.url.removeprefix("http://")
    assert caught.value.sentence == f"{host} uses http on this port, not https."
    assert caught.value.hint == f"If you trust this network, use {server.url}."
    assert pauses == []


def test_http_at_a_port_for_https_is_reported() -> None:
    with (
        tls_port() as port,
        Transport(pause=Pauses()) as transport,
        pytest.raises(ToolError) as caught,
    ):
        transport.send("GET", f"http://127.0.0.1:{port}/x", is_repeatable=True)
    assert caught.value.sentence == f"127.0.0.1:{port} uses https on this port, not http."
    assert caught.value.hint == f"Use https://127.0.0.1:{port}."


@pytest.mark.parametrize(
    "page",
    [
        b"<center>The plain HTTP request was sent to HTTPS port</center>",
        b"Reason: You're speaking plain HTTP to an SSL-enabled server port.",
        b"Client sent an HTTP request to an HTTPS server.",
    ],
)
def test_a_server_that_asks_for_https_is_understood(server: ScriptedServer, page: bytes) -> None:
    server.on("GET", "/x", Scripted(400, page, {"Content-Type": "text/html"}))
    with pytest.raises(ToolError, match="uses https on this port, not http"):
        ask(server, Pauses())


@contextlib.contextmanager
def dripping_port() -> Iterator[int]:
    """A server whose response has a byte every moment, for 20 seconds."""

    class Handler(StreamRequestHandler):
        def handle(self) -> None:
            with contextlib.suppress(OSError):
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n")
                for _ in range(400):
                    self.wfile.write(b" ")
                    time.sleep(0.05)

    with serving(Handler) as port:
        yield port


@contextlib.contextmanager
def tls_port() -> Iterator[int]:
    """A port that only speaks TLS."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    at = datetime(2026, 1, 1, tzinfo=UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, at, at + timedelta(days=9))
        .sign(key, hashes.SHA256())
        .public_bytes(Encoding.PEM)
    )
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    with tempfile.NamedTemporaryFile() as file:
        file.write(certificate + secret)
        file.flush()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file.name)

    class Handler(StreamRequestHandler):
        def handle(self) -> None:
            with contextlib.suppress(OSError):
                context.wrap_socket(self.request, server_side=True).close()

    with serving(Handler) as port:
        yield port


@contextlib.contextmanager
def serving(handler: type[StreamRequestHandler]) -> Iterator[int]:
    with ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()
