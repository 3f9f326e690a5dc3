"""Presigned URLs for one file, and messages for operators about a store's errors."""

import base64
import contextlib
import hashlib
import http.server
import io
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import httpx
import pytest

from support.s3 import SECRET, ministack, object_store, rclone
from support.service import free_port
from widget_catalog.core.errors import BundlesUnusable, StoreUnavailable
from widget_catalog.core.files.s3_client import Bucket

CONTENT = b"export function mount() {}\n" * 100
CHECKSUM = base64.b64encode(hashlib.sha256(CONTENT).digest()).decode()


@pytest.fixture(scope="module", params=["rclone", "ministack"])
def bucket(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bucket]:
    server = ministack() if request.param == "ministack" else rclone(tmp_path_factory.mktemp("s3"))
    with server as port:
        yield Bucket(object_store(port))


@pytest.mark.slow
def test_an_address_has_the_hash_and_takes_the_file_without_any_header(bucket: Bucket) -> None:
    address = bucket.sign_put("uploads/one.js", len(CONTENT), CHECKSUM)

    query = parse_qs(urlsplit(address).query)
    assert query["x-amz-checksum-sha256"] == [CHECKSUM]
    assert query["X-Amz-SignedHeaders"] == ["content-length;host"]
    assert httpx.put(address, content=CONTENT, timeout=60).status_code == 200
    with bucket.read("uploads/one.js") as kept:
        assert kept.read() == CONTENT


@pytest.mark.slow
def test_neither_the_size_nor_the_hash_of_an_address_can_be_changed(bucket: Bucket) -> None:
    address = bucket.sign_put("uploads/two.js", len(CONTENT), CHECKSUM)
    other = base64.b64encode(hashlib.sha256(b"other").digest()).decode()
    changed = address.replace(quote(CHECKSUM, safe=""), quote(other, safe=""))
    assert changed != address
    assert httpx.put(changed, content=CONTENT, timeout=60).status_code == 403
    assert httpx.put(address, content=CONTENT + b"x", timeout=60).status_code == 403
    assert httpx.put(address, content=CONTENT, timeout=60).status_code == 200


@pytest.mark.slow
def test_an_object_that_does_not_fit_on_this_disk_is_not_called_missing(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = bytes(9 << 20)
    checksum = base64.b64encode(hashlib.sha256(large).digest()).decode()
    bucket.put("js/large", io.BytesIO(large), checksum)
    with bucket.read("js/large") as kept:
        assert len(kept.read()) == len(large)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nothing"))

    with pytest.raises(StoreUnavailable, match="cannot be copied to a temporary file"):
        bucket.read("js/large")


class _Refusing(http.server.BaseHTTPRequestHandler):
    """A store that responses every request with an error."""

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        status, code = self.server.error  # type: ignore[attr-defined]
        body = f"<Error><Code>{code}</Code><Message>As it is.</Message></Error>".encode()
        self.send_response(status)
        self.send_header("content-type", "application/xml")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def serving(server: http.server.HTTPServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (404, "NoSuchBucket", "There is no such bucket."),
        (403, "AccessDenied", "no right to write"),
        (403, "InvalidAccessKeyId", "does not know the access key"),
        (403, "SignatureDoesNotMatch", "secret access key is wrong"),
        (403, "RequestTimeTooSkewed", "The clock of this machine"),
        (400, "ExpiredToken", "session token"),
        (400, "Unheard", "refused to keep an object"),
    ],
)
def test_what_a_store_refuses_is_said_with_what_to_do(
    status: int, code: str, expected: str
) -> None:
    server = http.server.HTTPServer(("127.0.0.1", 0), _Refusing)
    server.error = (status, code)  # type: ignore[attr-defined]
    with serving(server), pytest.raises(BundlesUnusable, match=expected) as caught:
        Bucket(object_store(server.server_port)).check_writable()
    assert code in caught.value.message
    assert SECRET not in caught.value.message


def test_a_store_that_does_not_respond_is_said_to_be_unreachable() -> None:
    with pytest.raises(BundlesUnusable, match="does not answer: check s3_endpoint"):
        Bucket(object_store(free_port())).check_writable()


class _Nonsense(http.server.BaseHTTPRequestHandler):
    """Sends what no S3 sends."""

    def do_GET(self) -> None:
        self.send_response(self.server.nonsense[0])  # type: ignore[attr-defined]
        self.send_header(*self.server.nonsense[1])  # type: ignore[attr-defined]
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.parametrize(
    "nonsense",
    [
        (301, ("location", "/bundles/js/one")),
        (302, ("location", "/")),
        (200, ("content-length", "x")),
    ],
)
def test_a_server_that_is_no_object_store_is_one_that_cannot_be_reached(
    nonsense: tuple[int, tuple[str, str]],
) -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Nonsense)
    server.nonsense = nonsense  # type: ignore[attr-defined]
    with serving(server):
        bucket = Bucket(object_store(server.server_port))
        with pytest.raises(StoreUnavailable):
            bucket.read("js/one")


@pytest.mark.usefixtures("finds_the_key_again")
def test_without_any_key_it_is_said_which_variables_are_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, "/nowhere")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(BundlesUnusable, match="set AWS_ACCESS_KEY_ID"):
        Bucket(object_store(free_port())).check_writable()


@pytest.mark.usefixtures("finds_the_key_again")
def test_a_session_token_is_part_of_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN"):
        monkeypatch.setenv(f"AWS_{name}", f"a-{name}")
    address = Bucket(object_store(free_port())).sign_put("uploads/one.js", 1, CHECKSUM)
    assert parse_qs(urlsplit(address).query)["X-Amz-Security-Token"] == ["a-SESSION_TOKEN"]
