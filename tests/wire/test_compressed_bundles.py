"""Compressed bundles of the real service: over a socket, and in a browser that checks integrity."""

import base64
import gzip
import hashlib
import socket
import statistics
import time
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser

from support.folders import filled_folder
from support.service import Service, running_service, wait_for
from support.widgets import version_line, widget_line

_LINES = (b"export const a%d = () => %d;\n" % (it, it * it) for it in range(500))
BUNDLE = b"globalThis.hasRun = 1;\n" + b"".join(_LINES)
URL = "/cdn/@acme/clock/1.0.0/index.js"
_REQUESTS = 30
# A client acknowledges what it has received within 40 ms, and at once if it gets more.
_DELAYED_S = 0.04


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("compressed")
    (folder / "w.js").write_bytes(BUNDLE)
    here = {"bundleFile": "w.js", "bundleUrl": None, "bundleSize": None, "sha256Hash": None}
    line = widget_line("acme/clock", versions=[version_line("1.0.0", **here)])
    data = filled_folder(folder / "data", line, base_folder=folder)
    with running_service(data) as service, service.client() as client:
        wait_for(lambda: "content-encoding" in _get(client, "br").headers)
        yield service


def _get(client: httpx.Client, encoding: str, method: str = "GET") -> httpx.Response:
    return client.request(method, URL, headers={"accept-encoding": encoding})


def test_a_compressed_bundle_has_the_length_of_what_is_sent(catalog: Service) -> None:
    with socket.create_connection(("127.0.0.1", catalog.port), timeout=60) as sent:
        head = (
            f"GET {URL} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n"
        )
        sent.sendall(head.encode())
        received = b""
        while some := sent.recv(1 << 16):
            received += some
    fields, _, body = received.partition(b"\r\n\r\n")
    assert gzip.decompress(body) == BUNDLE
    assert f"content-length: {len(body)}".encode() in fields.lower().split(b"\r\n")

    with catalog.client() as client:
        asked_for = _get(client, "gzip", "HEAD")
    assert int(asked_for.headers["content-length"]) == len(body)
    assert asked_for.headers["etag"] == f'"{hashlib.sha256(BUNDLE).hexdigest()}-gzip"'


@pytest.mark.parametrize("encoding", ["br", "identity"])
def test_a_file_does_not_wait_for_the_acknowledgement_of_its_headers(
    catalog: Service, encoding: str
) -> None:
    took_s: list[float] = []
    with catalog.client() as client:
        for _ in range(_REQUESTS):
            began = time.monotonic()
            assert _get(client, encoding).content == BUNDLE
            took_s.append(time.monotonic() - began)

    # At first a client acknowledges at once; later most of the requests would wait.
    assert statistics.median(took_s[_REQUESTS // 3 :]) < _DELAYED_S


def test_a_browser_gets_it_compressed_and_verifies_its_integrity(
    browser: Browser, catalog: Service
) -> None:
    digest = base64.b64encode(hashlib.sha256(BUNDLE).digest()).decode()
    url = f"http://127.0.0.1:{catalog.port}{URL}"
    page = browser.new_page()
    encodings: list[str | None] = []
    page.on("response", lambda it: encodings.append(it.headers.get("content-encoding")))
    load = """([url, integrity]) => new Promise((done) => {
        const script = document.createElement("script");
        Object.assign(script, { type: "module", src: url, integrity, crossOrigin: "anonymous" });
        script.onload = () => done(globalThis.hasRun);
        script.onerror = () => done("refused");
        document.head.append(script);
    })"""
    assert page.evaluate(load, [url, f"sha256-{digest}"]) == 1
    page.close()
    page = browser.new_page()
    assert page.evaluate(load, [url, f"sha256-{digest[::-1]}"]) == "refused"
    page.close()

    assert encodings == ["br"]
