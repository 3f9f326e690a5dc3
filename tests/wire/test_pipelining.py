"""Several requests on a connection before the first response: all answered, in order."""

import json
import random

from support.service import Service
from support.wire import WireConnection, request

_CLOCK = "/api/v1/widgets/acme/clock"


def test_responses_come_in_the_order_of_the_requests(unharmed_service: Service) -> None:
    choose = random.Random(7)
    with WireConnection(unharmed_service.port) as connection:
        for _ in range(20):
            pages = [choose.randrange(1, 10**9) for _ in range(100)]
            connection.send(
                b"".join(request("GET", f"/api/v1/widgets/search?page={it}") for it in pages)
            )
            responses = [connection.response() for _ in pages]
            assert [json.loads(it.body)["page"] for it in responses] == pages


def test_slow_and_fast_responses_keep_their_order(unharmed_service: Service) -> None:
    """A count waits for the disk, and later requests must wait for it."""
    with WireConnection(unharmed_service.port) as connection:
        connection.send((request("POST", _CLOCK) + request("GET", _CLOCK)) * 100)
        shown = []
        for _ in range(100):
            assert json.loads(connection.response().body) == {"success": True}
            shown.append(json.loads(connection.response().body)["widget"]["downloadCount"])
    assert shown == list(range(shown[0], shown[0] + 100))


def test_a_request_is_answered_while_the_next_is_only_half_there(
    unharmed_service: Service,
) -> None:
    with WireConnection(unharmed_service.port) as connection:
        connection.send(request("GET", _CLOCK) * 3 + b"GET /api/heal")
        assert [connection.response().status for _ in range(3)] == [200, 200, 200]
        connection.send(b"th HTTP/1.1\r\nHost: x\r\n\r\n")
        assert connection.response().status == 200


def test_an_response_without_a_body_is_followed_by_the_next(unharmed_service: Service) -> None:
    methods = ["HEAD", "OPTIONS", "GET", "HEAD", "POST", "DELETE", "GET"]
    with WireConnection(unharmed_service.port) as connection:
        connection.send(b"".join(request(it, _CLOCK) for it in methods))
        statuses = [connection.response(it).status for it in methods]
    assert statuses == [200, 204, 200, 200, 200, 405, 200]


def test_a_connection_is_kept_unless_the_client_asks_to_end_it(unharmed_service: Service) -> None:
    with WireConnection(unharmed_service.port) as connection:
        for _ in range(300):
            assert connection.ask("GET", _CLOCK).status == 200
        assert connection.ask("GET", _CLOCK, "Connection: close").status == 200
        assert connection.rest() == b""


def test_a_body_that_nobody_wants_does_not_cost_the_response(unharmed_service: Service) -> None:
    for size in (0, 1, 5_000, 100_000, 2_000_000):
        with WireConnection(unharmed_service.port) as connection:
            connection.send(request("POST", _CLOCK, f"Content-Length: {size}") + bytes(size))
            assert json.loads(connection.response().body) == {"success": True}
