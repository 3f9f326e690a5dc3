"""Frequent reads are handled without coroutines, and the response is the same."""

from pathlib import Path
from typing import Any

import pytest

from support.site import InProcessSite
from support.widgets import version_line, widget_line
from widget_catalog.core.http.http import PlainRequest, Response, SentBody

READS = [
    "/api/v1/widgets/acme/clock",
    "/api/v1/widgets/acme/clock/1.0.0",
    "/api/v1/widgets/search?q=clock&compatSdk=1.0.0",
    "/api/widgets/acme/registry.json",
]
OTHERS = [
    "/api/v1/widgets/acme/unknown",
    "/api/v1/widgets/acme/clock/9.9.9",
    "/api/v1/widgets/acme/clock/x/y",
    "/api/v1/widgets/search?limit=0",
    f"/api/v1/widgets/search?q={'x' * 9_000}",
    f"/api/widgets/acme/registry.json?{'x' * 9_000}",
    f"/api/v1/widgets/acme/clock/1.0.0?{'x' * 9_000}",
    "/api/widgets/Acme/registry.json",
    "/api/widgets/unknown/registry.json",
    "/api/v1/widgets/resolve",
    "/api/stats",
    "/",
]
HEADERS = [{}, {"accept-encoding": "gzip"}, {"if-none-match": "*"}, {"x-request-id": "a-1"}]


@pytest.fixture
def filled(site: InProcessSite) -> InProcessSite:
    site.add(widget_line("acme/clock", versions=[version_line("1.0.0")]))
    site.get("/api/v1/widgets/search")  # The index follows when it is asked.
    return site


def _handled(site: InProcessSite, request: PlainRequest) -> Response:
    response: Response = site._loop.run_until_complete(site._worker.handle(request, SentBody()))
    return response


@pytest.mark.parametrize("headers", HEADERS)
@pytest.mark.parametrize("address", READS)
def test_a_frequent_read_waits_for_nothing(
    filled: InProcessSite, address: str, headers: dict[str, str]
) -> None:
    path, _, query = address.partition("?")
    for method in ("GET", "HEAD"):
        request = PlainRequest(method, path, query, headers, "127.0.0.1:1")
        response = filled._worker.respond_now(request, request.headers)
        assert response == _handled(filled, request)
        assert response.status == (304 if "if-none-match" in headers else 200)


@pytest.mark.parametrize("address", OTHERS)
def test_what_is_handled_at_once_is_handled_the_same(filled: InProcessSite, address: str) -> None:
    path, _, query = address.partition("?")
    for method in ("GET", "HEAD", "POST", "PUT", "OPTIONS"):
        request = PlainRequest(method, path, query, {"x-request-id": "a-1"}, "127.0.0.1:1")
        response = filled._worker.respond_now(request, request.headers)
        assert response is None or response == _handled(filled, request)


@pytest.mark.parametrize("name", ["rate_limit", "access_log"])
def test_middleware_sees_every_request(tmp_path: Path, name: str) -> None:
    value: Any = {"rate_limit": "9/second", "access_log": True}[name]
    with InProcessSite(tmp_path / "data", **{name: value}) as site:
        request = PlainRequest("GET", READS[2].partition("?")[0])
        assert site._worker.respond_now(request, request.headers) is None
