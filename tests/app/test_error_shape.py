"""One format for all errors of all routes: body, content type, CORS, Allow; HEAD and OPTIONS."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from support.site import InProcessSite, Reply
from support.widgets import widget_line
from widget_catalog.catalog.reading.catalog import CatalogReader

OPEN = "/api/v1/widgets/"
LONG = "x" * 9000


class Route(NamedTuple):
    path: str
    allow: str
    """The Allow header of a 405."""


ROUTES = [
    Route("/api/v1/widgets/search", "GET, HEAD, OPTIONS"),
    Route("/api/v1/widgets/acme/clock", "GET, HEAD, POST, OPTIONS"),
    Route("/api/v1/widgets/acme/clock/1.0.0", "GET, HEAD, OPTIONS"),
    Route("/api/v1/widgets/revocations", "GET, HEAD, OPTIONS"),
    Route("/api/v1/widgets/changes", "GET, HEAD, OPTIONS"),
    Route("/api/widgets/acme/registry.json", "GET, HEAD"),
    Route("/api/health", "GET, HEAD"),
    Route("/api/version", "GET, HEAD"),
    Route("/api/widgets/cli-version", "GET, HEAD"),
    Route("/api/stats", "GET, HEAD"),
    Route("/api/settings", "GET, HEAD"),
]
PATHS = [route.path for route in ROUTES]

NOT_FOUND = [
    "/api/v1/widgets/acme/nothing",
    "/api/v1/widgets/nobody/clock",
    "/api/v1/widgets/acme/hidden",
    "/api/v1/widgets/acme",
    "/api/v1/widgets/",
    "/api/v1/widgets/acme/clock/",
    "/api/v1/widgets/acme/clock/9.9.9",
    "/api/v1/widgets/acme/clock/1.0.0/",
    "/api/v1/widgets/acme/hidden/1.0.0",
    "/api/v1/widgets/nothing",
    "/api/v1/nothing",
    "/api/widgets/nobody/registry.json",
    "/api/widgets/Nobody/registry.json",
]
BAD_QUERIES = [
    "compatSdk=", "compatSdk=1", "page=0", "page=x", "limit=0", "limit=-5", "official=maybe",
    "q=%FF", "q=%", f"q={'x' * 257}",
]  # fmt: skip


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessSite]:
    with InProcessSite(tmp_path_factory.mktemp("shop") / "data") as site:
        site.add(widget_line("acme/clock"), widget_line("acme/hidden", listed=False))
        yield site


def assert_error(response: Reply, path: str, status: int, **headers: str) -> None:
    """The complete response is an error in our format, with exactly these headers."""
    assert response.status == status
    body = response.json()
    assert list(body) == ["error"]
    assert isinstance(body["error"], str)
    assert body["error"].endswith(".")
    assert "Traceback" not in body["error"]
    wanted = {
        "content-type": "application/json; charset=utf-8",
        "x-content-type-options": "nosniff",
        **{key.replace("_", "-"): value for key, value in headers.items()},
    }
    if path.startswith(OPEN):
        wanted["access-control-allow-origin"] = "*"
    assert response.headers == wanted


def test_not_found(shop: InProcessSite) -> None:
    for path in NOT_FOUND:
        assert_error(shop.get(path), path, 404)
        assert_error(shop.request("HEAD", path), path, 404)


def test_bad_query(shop: InProcessSite) -> None:
    for query in BAD_QUERIES:
        path = "/api/v1/widgets/search"
        assert_error(shop.get(f"{path}?{query}"), path, 400)
        assert_error(shop.request("HEAD", f"{path}?{query}"), path, 400)


def test_wrong_method(shop: InProcessSite) -> None:
    cases = ["PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "BREW", "get", "", "X" * 5000]
    for route in ROUTES:
        for method in cases:
            response = shop.request(method, route.path)

            assert_error(response, route.path, 405, allow=route.allow)
            assert len(response.body) < 200


def test_only_a_widget_can_be_posted_to(shop: InProcessSite) -> None:
    for route in [ROUTES[0], *ROUTES[2:]]:
        assert_error(shop.post(route.path), route.path, 405, allow=route.allow)


def test_only_the_open_routes_have_a_preflight(shop: InProcessSite) -> None:
    for route in ROUTES[5:]:
        assert_error(shop.request("OPTIONS", route.path), route.path, 405, allow="GET, HEAD")


def test_preflight(shop: InProcessSite) -> None:
    cases = [
        *PATHS[:5],
        "/api/v1/widgets/nobody/nothing",
        "/api/v1/widgets/",
        "/api/v1/widgets/a/b/c",
    ]
    for path in cases:
        response = shop.request(
            "OPTIONS",
            path,
            origin="https://dashboard.example",
            access_control_request_method="POST",
            access_control_request_headers="x-anything",
        )

        assert (response.status, response.body) == (204, b"")
        assert response.response.headers == [
            ("access-control-allow-origin", "*"),
            ("access-control-allow-methods", "GET, HEAD, POST, OPTIONS"),
            ("access-control-allow-headers", "*"),
            ("access-control-max-age", "86400"),
            ("x-content-type-options", "nosniff"),
        ]


def test_too_long_an_address(shop: InProcessSite) -> None:
    for path in [*PATHS, "/api/nothing", "/api/v1/nothing"]:
        for method in ("GET", "HEAD", "POST", "OPTIONS", "PUT"):
            assert_error(shop.request(method, f"{path}{LONG}"), path, 414)
            # A widget is recognised before the query, which is ignored.
            if method not in ("GET", "HEAD") or path != PATHS[1]:
                assert_error(shop.request(method, f"{path}?{LONG}"), path, 414)


def test_head_has_the_status_and_headers_of_get(shop: InProcessSite) -> None:
    for path in PATHS:
        for query in ("", "?page=2", f"?{LONG}"):
            for headers in ({}, {"accept_encoding": "br"}, {"if_none_match": "*"}):
                got = shop.get(path + query, **headers)
                head = shop.request("HEAD", path + query, **headers)

                assert got.status in (200, 304, 414)
                assert (head.status, head.headers) == (got.status, got.headers)


def test_cors_is_on_the_open_routes_alone(shop: InProcessSite) -> None:
    for path in PATHS:
        for headers in ({}, {"if_none_match": "*"}, {"origin": "https://dashboard.example"}):
            response = shop.get(path, **headers)

            found = {
                key: value
                for key, value in response.headers.items()
                if key.startswith("access-control")
            }
            assert found == ({"access-control-allow-origin": "*"} if path.startswith(OPEN) else {})
            assert response.headers["x-content-type-options"] == "nosniff"
            assert "cache-control" not in response.headers


def test_a_error_of_our_own(site: InProcessSite, monkeypatch: pytest.MonkeyPatch) -> None:
    site.add(widget_line("acme/clock"))
    monkeypatch.setattr(CatalogReader, "_follow", lambda _catalog: 1 / 0)

    for path in PATHS[:3]:
        response = site.get(path)

        assert_error(response, path, 500)
        assert response.json() == {"error": "Something went wrong on our side. It has been logged."}


def test_a_catalog_that_cannot_be_read(site: InProcessSite) -> None:
    site.add(widget_line("acme/clock"))
    site._worker.close()

    for path in PATHS[:3]:
        assert_error(site.get(path), path, 503, retry_after="5")
    assert_error(site.post(PATHS[1]), PATHS[1], 503, retry_after="5")
    assert site.get("/api/health").status == 503
    assert site.get("/api/version").status == 200


def test_too_many_requests(tmp_path_factory: pytest.TempPathFactory) -> None:
    data = tmp_path_factory.mktemp("limited") / "data"
    with InProcessSite(data, rate_limit="1/hour") as site:
        assert site.get("/api/version").status == 200
        for path in [*PATHS, *NOT_FOUND, "/api/nothing"]:
            if path == "/api/health":  # Monitoring must always get a response.
                assert site.get(path).status == 200
                continue
            for method in ("GET", "HEAD", "POST", "PUT"):
                response = site.request(method, path)
                wait = response.headers["retry-after"]
                assert_error(response, path, 429, retry_after=wait)
                assert wait.isdecimal()
                assert 1 <= int(wait) <= 3600
        assert site.request("OPTIONS", PATHS[1]).status == 204
