"""Responses as the server sends them: status, headers, and nothing after the body."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from support.folders import filled_folder
from support.service import Service, running_service
from support.widgets import version_line, widget_line
from support.wire import WireConnection, WireResponse

_BASE_URL = "https://catalog.example"
_SCRIPT = b"export default { mount(element) { element.textContent = 'a clock'; } };\n" * 40

# Headers added by the server.
_NOT_OURS = {"date", "server", "connection"}

_DETAIL = "/api/v1/widgets/acme/clock"
_SEARCH = "/api/v1/widgets/search"
_REGISTRY = "/api/widgets/acme/registry.json"
_BUNDLE = "/cdn/@acme/clock/1.0.0/index.js"

_READABLE = [
    _DETAIL,
    _SEARCH,
    _REGISTRY,
    _BUNDLE,
    "/api/health",
    "/api/version",
    "/api/widgets/cli-version",
    "/api/settings",
    "/",
    "/docs/api",
    "/openapi.json",
    "/schema/widget.json",
    "/robots.txt",
    "/favicon.svg",
]
_REQUESTS: list[tuple[int, str, str, dict[str, str]]] = [
    *[(200, "GET", address, {}) for address in _READABLE],
    *[(200, "HEAD", address, {}) for address in _READABLE],
    *[(304, "GET", address, {"if-none-match": "*"}) for address in _READABLE],
    *[(304, "HEAD", address, {"if-none-match": "*"}) for address in (_DETAIL, _BUNDLE)],
    *[(200, "GET", _DETAIL, {"accept-encoding": it}) for it in ("zstd", "br", "gzip", "identity")],
    (200, "HEAD", _DETAIL, {"accept-encoding": "br"}),
    *[
        (308, method, f"{slashes}{_DETAIL[1:]}?x=%20y", {})
        for method in ("GET", "HEAD", "POST")
        for slashes in ("//", "///", "/%2f", "/%2F/")
    ],
    (308, "GET", "//evil.example/x", {}),
    (308, "GET", "//%5Cevil.example", {}),
    (308, "GET", "/%2f%5cevil.example/%FF", {}),
    (200, "GET", _SEARCH, {"accept-encoding": "gzip, br;q=0.5"}),
    (200, "GET", _REGISTRY, {"accept-encoding": "zstd"}),
    (200, "GET", _BUNDLE, {"accept-encoding": "gzip"}),
    (206, "GET", _BUNDLE, {"range": "bytes=0-9"}),
    (206, "GET", _BUNDLE, {"range": "bytes=100-"}),
    (206, "GET", _BUNDLE, {"range": "bytes=-7"}),
    (206, "GET", _BUNDLE, {"range": "bytes=0-0"}),
    (200, "HEAD", _BUNDLE, {"range": "bytes=5-14"}),
    (206, "GET", _BUNDLE, {"range": "bytes=10-999999"}),
    (200, "GET", _BUNDLE, {"range": "bytes=0-1,4-5"}),
    (200, "GET", _BUNDLE, {"range": "bytes=0-9", "if-range": '"another"'}),
    (416, "GET", _BUNDLE, {"range": "bytes=999999-"}),
    (204, "OPTIONS", _DETAIL, {"origin": "https://x.example"}),
    (204, "OPTIONS", _SEARCH, {"access-control-request-method": "POST"}),
    (204, "OPTIONS", _BUNDLE, {}),
    (405, "OPTIONS", "/api/health", {}),
    (405, "OPTIONS", _REGISTRY, {}),
    (405, "DELETE", _DETAIL, {}),
    (405, "POST", _SEARCH, {}),
    (405, "PUT", _BUNDLE, {}),
    (405, "POST", "/", {}),
    (400, "GET", f"{_SEARCH}?page=0", {}),
    (400, "HEAD", f"{_SEARCH}?page=0", {}),
    (400, "GET", f"{_SEARCH}?q=%ff", {}),
    (200, "GET", f"{_SEARCH}?q=gr%C3%B6%C3%9Fe&limit=5&compatSdk=1.2.3%2B4", {}),
    (200, "GET", f"{_SEARCH}?q=a+w1&page={10**30}&unknown=%26", {}),
    (404, "GET", "/api/v1/widgets/acme/hidden", {}),
    (404, "HEAD", "/api/v1/widgets/acme/nothing", {}),
    (404, "GET", f"{_DETAIL}/", {}),
    (404, "GET", "/api/v1/widgets/%C3%A9/clock", {}),
    (404, "GET", "/api/v1/nothing", {}),
    (404, "GET", "/api/widgets/nobody/registry.json", {}),
    (404, "GET", "/cdn/@acme/clock/9.9.9/index.js", {}),
    (404, "GET", "/nothing", {"accept-encoding": "br"}),
    (401, "GET", "/api/widgets/scopes", {}),
    (401, "POST", "/api/widgets/publish", {}),
    (404, "POST", "/api/v1/widgets/acme/nothing", {}),
    (200, "POST", "/api/v1/widgets/acme/hidden", {}),
]


class Wire:
    """Every request uses a new connection."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def ask(
        self, method: str, address: str, headers: dict[str, str] | list[tuple[str, str]]
    ) -> WireResponse:
        lines = list(headers.items()) if isinstance(headers, dict) else headers
        with WireConnection(self._service.port) as connection:
            response = connection.ask(method, address, *[f"{key}: {value}" for key, value in lines])
            # Nothing follows the response: the connection can be reused immediately.
            assert connection.ask("GET", "/api/version").status == 200
            assert not connection.received
        kept = {key: value for key, value in response.headers.items() if key not in _NOT_OURS}
        return response._replace(headers=kept)


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    folder = tmp_path_factory.mktemp("wire")
    (folder / "clock.js").write_bytes(_SCRIPT)
    stored = {"bundleFile": "clock.js", "bundleUrl": None, "bundleSize": None, "sha256Hash": None}
    lines: list[dict[str, Any]] = [
        widget_line("acme/clock", versions=[version_line("1.0.0", **stored)]),
        widget_line("acme/hidden", listed=False),
        *[widget_line(f"other/w{i}", description="Größe \U0001f552") for i in range(30)],
    ]
    data = filled_folder(folder / "data", *lines, base_folder=folder)
    with running_service(data, "--base-url", _BASE_URL) as service:
        yield Wire(service)


@pytest.mark.parametrize(
    ("status", "method", "address", "headers"),
    [pytest.param(*it, id=f"{it[1]} {it[2]} {it[3] or ''}".strip()) for it in _REQUESTS],
)
def test_every_kind_of_response_has_its_status_and_length(
    wire: Wire, status: int, method: str, address: str, headers: dict[str, str]
) -> None:
    response = wire.ask(method, address, headers)

    assert response.status == status
    if method != "HEAD" and status not in (204, 304):
        assert response.headers["content-length"] == str(len(response.body))


def test_head_has_the_headers_of_get_and_no_body(wire: Wire) -> None:
    for address in [*_READABLE, "/api/v1/widgets/acme/nothing", "/nothing"]:
        for encoding in ["identity", "br"]:
            headers = {"accept-encoding": encoding}
            get, head = wire.ask("GET", address, headers), wire.ask("HEAD", address, headers)
            assert head == get._replace(body=b"")
            assert head.headers["content-length"] == str(len(get.body)) != "0"


def test_a_head_is_of_the_whole_as_ranges_are_for_get_alone(wire: Wire) -> None:
    for wanted in ("bytes=5-14", "bytes=999999-"):
        response = wire.ask("HEAD", _BUNDLE, {"range": wanted})
        assert (response.status, response.body) == (200, b"")
        assert response.headers["content-length"] == str(len(_SCRIPT))
        assert "content-range" not in response.headers


def test_a_bundle_and_its_parts_are_the_bytes_that_were_imported(wire: Wire) -> None:
    assert wire.ask("GET", _BUNDLE, {}).body == _SCRIPT
    part = wire.ask("GET", _BUNDLE, {"range": "bytes=100-"})
    assert part.body == _SCRIPT[100:]
    assert part.headers["content-range"] == f"bytes 100-{len(_SCRIPT) - 1}/{len(_SCRIPT)}"


def test_a_count_is_seen_in_the_next_response(wire: Wire) -> None:
    before = _count(wire)
    assert json.loads(wire.ask("POST", _DETAIL, {}).body) == {"success": True}
    assert _count(wire) == before + 1


def test_a_tag_may_stand_in_any_line_of_the_header(wire: Wire) -> None:
    for address in [_BUNDLE, _DETAIL]:
        etag = wire.ask("GET", address, {}).headers["etag"]
        for lines in ((etag, '"x"'), ('"x"', etag)):
            response = wire.ask("GET", address, [("if-none-match", it) for it in lines])
            assert (response.status, response.body) == (304, b"")


def test_a_tag_of_a_compressed_response_is_known(wire: Wire) -> None:
    headers = {"accept-encoding": "gzip"}
    etag = wire.ask("GET", _REGISTRY, headers).headers["etag"]
    response = wire.ask("GET", _REGISTRY, {**headers, "if-none-match": f'"x", {etag}'})
    assert (response.status, response.body) == (304, b"")
    assert "content-length" not in response.headers
    assert "content-type" not in response.headers


def _count(wire: Wire) -> int:
    return int(json.loads(wire.ask("GET", _DETAIL, {}).body)["widget"]["downloadCount"])
