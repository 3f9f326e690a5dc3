"""What only a real server shows: decoding of URLs, and ignored bodies."""

from collections.abc import Iterator
from http.client import HTTPConnection

import pytest

from support.service import Service, running_service
from support.widgets import import_widgets, widget_line
from widget_catalog.catalog.node.node import prepare_node

pytestmark = pytest.mark.slow

CLOCK = "/api/v1/widgets/acme/clock"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    data = tmp_path_factory.mktemp("served") / "data"
    node = prepare_node(data)
    import_widgets(node, widget_line("acme/clock", displayName="Größe + 100% a/b"))
    node.store.close()
    with running_service(data) as service:
        yield service


def _ask(
    served: Service, method: str, target: str, body: bytes | None = None, **headers: str
) -> tuple[int, str, bytes]:
    """Status, CORS header and body. The target is sent unchanged."""
    connection = HTTPConnection("127.0.0.1", served.port, timeout=30)
    connection.request(method, target, body, {k.replace("_", "-"): v for k, v in headers.items()})
    response = connection.getresponse()
    try:
        assert response.headers["x-content-type-options"] == "nosniff"
        return (
            response.status,
            response.headers.get("access-control-allow-origin", ""),
            response.read(),
        )
    finally:
        connection.close()


@pytest.mark.parametrize(
    "target",
    ["/api/v1/widgets/acme/cl%6Fck", "/api/v1/widgets/%61cme/clock", "/api/v1/widgets/acme%2Fclock",
     "/%61pi/v1/widgets/acme/clock", "/api/v1/widgets/acme/clock?x=%FF"],
)  # fmt: skip
def test_a_path_is_decoded_once(served: Service, target: str) -> None:
    assert _ask(served, "GET", target) == _ask(served, "GET", CLOCK)


@pytest.mark.parametrize(
    "target",
    ["/api/v1/widgets/acme/cl%256Fck", "/api/v1/widgets/acme%252Fclock", "/api/v1/widgets/acme/%FF",
     "/api/v1/widgets/acme/%C3", "/api/v1/widgets/acme/clock%FF", "/api/v1/widgets/acme/clock%",
     "/api/v1/widgets/acme/%zz", "/api/v1/widgets/acme/clock%00", "/api/v1/widgets/acme/clock%0A",
     "/api/v1/widgets/acme/clock%20", "/api/v1/widgets/acme/clock%2F",
     "/api/v1/widgets/acme/clock/", "/api/v1/widgets/acme/../acme/clock",
     "/api/v1/widgets/acme/%2e%2e/clock", "/api/v1/widgets/acme/cl+ock",
     "/api/v1/widgets/ACME/clock"],
)  # fmt: skip
def test_a_path_that_is_another_one_or_not_utf8_is_404(served: Service, target: str) -> None:
    for method in ("GET", "POST"):
        status, cors, body = _ask(served, method, target)

        assert (status, cors) == (404, "*")
        assert body.startswith(b'{"error":"There is nothing at /api/v1/widgets/')


@pytest.mark.parametrize(
    ("query", "total"),
    [
        ("q=gr%C3%B6%C3%9Fe", 1),
        ("q=GR%C3%96SSE+100%25", 1),
        ("q=%2B%20a%2fb", 1),
        ("q=a/b", 1),
        ("q=%2525", 0),
    ],
)
def test_a_query_is_decoded_once(served: Service, query: str, total: int) -> None:
    status, _, body = _ask(served, "GET", f"/api/v1/widgets/search?{query}")

    assert status == 200
    assert b'"total":%d,' % total in body


@pytest.mark.parametrize("query", ["q=%FF", "q=%", "q=%C3%28"])
def test_a_query_that_is_not_utf8_is_400(served: Service, query: str) -> None:
    status, cors, body = _ask(served, "GET", f"/api/v1/widgets/search?{query}")

    assert (status, cors) == (400, "*")
    assert body.startswith(b'{"error":"The query is not ')


def test_a_body_is_ignored_whatever_it_is_and_counted_once(served: Service) -> None:
    bodies = [b"", b"{}", b"not json", b"\xff" * 100, b"x" * 300_000]
    for body in bodies:
        for content_type in ("application/json", "text/weird", ""):
            response = _ask(served, "POST", CLOCK, body, content_type=content_type)
            assert response == (200, "*", b'{"success":true}')

    counted = len(bodies) * 3
    assert b'"downloadCount":%d,' % counted in _ask(served, "GET", CLOCK)[2]


def test_a_get_with_a_body_is_answered_like_one_without(served: Service) -> None:
    assert _ask(served, "GET", CLOCK, b'{"page": 0}') == _ask(served, "GET", CLOCK)


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "TRACE", "BREW"])
def test_any_other_method_is_405_in_our_shape(served: Service, method: str) -> None:
    sentence = f"{method} is not possible here; use GET, HEAD, POST, OPTIONS."

    response = _ask(served, method, CLOCK)

    assert response == (405, "*", b'{"error":"%b"}' % sentence.encode())
