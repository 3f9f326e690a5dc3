"""The header Host, as RFC 9112 requires it."""

import json

import pytest

from support.service import Service
from support.wire import WireConnection, WireResponse

DETAIL = "/api/v1/widgets/acme/clock"
PATHS = (DETAIL, "/api/v1/widgets/search", "/api/health", "/api/tokens", "/", "/cdn/x", "/nothing")
WRONG = {
    "none": "",
    "two": "Host: a.example\r\nHost: b.example\r\n",
    "the same twice": "Host: a.example\r\nhost: a.example\r\n",
}


def ask(service: Service, first_line: str, hosts: str) -> WireResponse:
    with WireConnection(service.port) as connection:
        connection.send(f"{first_line}\r\n{hosts}\r\n".encode())
        return connection.response(first_line.partition(" ")[0])


def test_a_request_without_one_host_is_400(unharmed_service: Service) -> None:
    for hosts in WRONG.values():
        for path in PATHS:
            response = ask(unharmed_service, f"GET {path} HTTP/1.1", hosts)

            assert response.status == 400
            assert json.loads(response.body) == {
                "error": "A request must have exactly one Host header."
            }
            is_open = path.startswith(("/api/v1/widgets/", "/cdn/"))
            assert ("access-control-allow-origin" in response.headers) == is_open
            assert ask(unharmed_service, f"HEAD {path} HTTP/1.1", hosts).status == 400


def test_the_next_request_of_the_connection_is_answered(unharmed_service: Service) -> None:
    with WireConnection(unharmed_service.port) as connection:
        connection.send(f"GET {DETAIL} HTTP/1.1\r\n\r\n".encode())
        assert connection.response().status == 400
        assert connection.ask("GET", DETAIL).status == 200


@pytest.mark.parametrize("path", [DETAIL, "/", "/api/health"])
def test_a_host_may_be_empty_and_http_1_0_needs_none(unharmed_service: Service, path: str) -> None:
    assert ask(unharmed_service, f"GET {path} HTTP/1.1", "Host:\r\n").status == 200
    assert ask(unharmed_service, f"GET {path} HTTP/1.0", "").status == 200
    assert ask(unharmed_service, f"GET {path} HTTP/1.0", WRONG["two"]).status == 400
