"""Optional middleware: the rate limit and the access log."""

from pathlib import Path
from typing import Any

import pytest
import structlog

from support.site import InProcessSite
from support.widgets import widget_line
from widget_catalog.core.clock import format_duration
from widget_catalog.core.http.http import PlainRequest
from widget_catalog.core.http.middleware import client_of

VERSION = "/api/version"


@pytest.mark.parametrize(
    ("forwarded", "trusts", "client"),
    [
        (None, False, "10.0.0.9"),
        (None, True, "10.0.0.9"),
        ("1.2.3.4", False, "10.0.0.9"),
        ("1.2.3.4", True, "1.2.3.4"),
        ("6.6.6.6, 1.2.3.4", True, "1.2.3.4"),
        ("6.6.6.6,1.2.3.4 ", True, "1.2.3.4"),
        ("2001:db8::1", True, "2001:db8::1"),
    ],
)
def test_the_client_is_the_connections_or_the_last_that_a_trusted_proxy_names(
    forwarded: str | None, trusts: bool, client: str
) -> None:
    headers = {} if forwarded is None else {"x-forwarded-for": forwarded}
    request = PlainRequest("GET", VERSION, "", headers, "10.0.0.9:51234")

    assert client_of(request, trust_forwarded_for=trusts) == client


def test_an_ipv6_client_is_known_without_its_port() -> None:
    request = PlainRequest("GET", VERSION, "", {}, "[2001:db8::1]:51234")

    assert client_of(request, trust_forwarded_for=False) == "[2001:db8::1]"


def test_no_limit_unless_switched_on(site: InProcessSite) -> None:
    site.add(widget_line("acme/clock"))

    responses = [site.post("/api/v1/widgets/acme/clock") for _ in range(200)]

    assert {(it.status, it.body) for it in responses} == {(200, b'{"success":true}')}


def test_the_limit_is_a_clients_own_and_says_when_to_come_back(tmp_path: Path) -> None:
    with InProcessSite(tmp_path, rate_limit="3/hour", trust_forwarded_for=True) as site:
        assert [site.get(VERSION, x_forwarded_for="1.1.1.1").status for _ in range(4)] == [
            200, 200, 200, 429,
        ]  # fmt: skip
        assert site.get(VERSION, x_forwarded_for="2.2.2.2").status == 200

        refused = site.get(VERSION, x_forwarded_for="9.9.9.9, 1.1.1.1")

    wait = int(refused.headers["retry-after"])
    assert 1 <= wait <= 3600
    again = f"Try again in {format_duration(wait)}."
    assert refused.json() == {"error": f"Too many requests: at most 3/hour are answered. {again}"}


def test_a_64_of_ipv6_is_one_client_and_the_log_keeps_the_whole_address(tmp_path: Path) -> None:
    switches: dict[str, Any] = {"rate_limit": "2/hour", "trust_forwarded_for": True}
    addresses = ["2001:db8::1", "2001:db8:0:0:ffff::2", "[2001:db8::3]:99", "2001:db8:0:1::1"]
    with (
        InProcessSite(tmp_path, access_log=True, **switches) as site,
        structlog.testing.capture_logs() as log,
    ):
        responses = [site.get(VERSION, x_forwarded_for=it) for it in addresses]
        mapped = [site.get(VERSION, x_forwarded_for="::ffff:192.0.2.1") for _ in range(2)]
        plain = site.get(VERSION, x_forwarded_for="192.0.2.1")

    assert [it.status for it in responses] == [200, 200, 429, 200]
    assert [it.status for it in (*mapped, plain)] == [200, 200, 429]
    assert [it["client"] for it in log][:4] == addresses


def test_health_is_always_answered_and_uses_nothing_up(tmp_path: Path) -> None:
    with InProcessSite(tmp_path, rate_limit="1/hour") as site:
        assert [site.get("/api/health").status for _ in range(5)] == [200] * 5
        assert [site.get(VERSION).status for _ in range(2)] == [200, 429]
        assert site.get("/api/health").status == 200


def test_of_several_limits_each_holds(tmp_path: Path) -> None:
    with InProcessSite(tmp_path, rate_limit="100/second;5/hour") as site:
        statuses = [site.get(VERSION).status for _ in range(8)]

    assert statuses == [200] * 5 + [429] * 3


@pytest.mark.parametrize(
    ("query", "logged"),
    [
        ("invitation=wci_x&a=b", "invitation=…&a=b"),
        ("id=1&secret=wci_x", "id=1&secret=…"),
        ("code=x&state=y", "code=…&state=y"),
        ("next=%2Fjoin%3Finvitation%3Dx", "next=…"),
        ("q=code=1&barcode=2", "q=code=1&barcode=2"),
    ],
)
def test_the_access_log_has_no_secret_in_it(tmp_path: Path, query: str, logged: str) -> None:
    with InProcessSite(tmp_path, access_log=True) as site, structlog.testing.capture_logs() as log:
        site.get(f"/sign-in?{query}")

    assert [it["query"] for it in log] == [logged]


def test_the_access_log_has_a_line_a_request(tmp_path: Path) -> None:
    with InProcessSite(tmp_path, access_log=True) as site, structlog.testing.capture_logs() as log:
        site.get("/api/v1/widgets/search?page=0")
        site.request("HEAD", VERSION)

    assert [(it.pop("ms") >= 0, it) for it in log] == [
        (
            True,
            {
                "event": "request",
                "log_level": "info",
                "client": "127.0.0.1",
                "method": "GET",
                "path": "/api/v1/widgets/search",
                "query": "page=0",
                "status": 400,
            },
        ),
        (
            True,
            {
                "event": "request",
                "log_level": "info",
                "client": "127.0.0.1",
                "method": "HEAD",
                "path": "/api/version",
                "query": "",
                "status": 200,
            },
        ),
    ]
