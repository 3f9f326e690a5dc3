"""How clients are identified, with and without a proxy."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.folders import empty_folder
from support.service import Service, running_service
from support.wire import WireConnection, WireResponse

pytestmark = pytest.mark.slow

_PATH = "/api/v1/widgets/search"
_LIMIT = ("--rate-limit", "2/hour")


@pytest.fixture
def trusting(tmp_path: Path) -> Iterator[Service]:
    with running_service(
        empty_folder(tmp_path / "data"), *_LIMIT, "--set", "trust_forwarded_for=true"
    ) as service:
        yield service


def _ask(service: Service, *forwarded: str) -> WireResponse:
    with WireConnection(service.port) as connection:
        return connection.ask("GET", _PATH, *[f"X-Forwarded-For: {it}" for it in forwarded])


def test_a_client_cannot_pass_for_others_however_its_proxy_tells_of_it(trusting: Service) -> None:
    """Some proxies append to the client's own line, others add a line after it."""
    for made_up in ("10.0.0.1", "10.0.0.2"):
        assert _ask(trusting, made_up, "203.0.113.7").status == 200
    for forwarded in (
        ["10.0.0.3", "203.0.113.7"],
        ["10.0.0.4, 203.0.113.7"],
        ["203.0.113.7"],
        ["10.0.0.5, 10.0.0.6", "10.0.0.7,203.0.113.7 "],
    ):
        refused = _ask(trusting, *forwarded)
        assert refused.status == 429, forwarded
        assert list(json.loads(refused.body)) == ["error"]
        assert refused.headers["access-control-allow-origin"] == "*"
        assert 1 <= int(refused.headers["retry-after"]) <= 3600
    # Another client behind the same proxy has its own limit.
    assert _ask(trusting, "203.0.113.7, 203.0.113.8").status == 200


def test_without_a_proxy_nobody_is_believed(tmp_path: Path) -> None:
    with running_service(empty_folder(tmp_path / "data"), *_LIMIT) as service:
        statuses = [_ask(service, f"10.0.0.{i}").status for i in range(5)]

    assert statuses == sorted(statuses)
    assert statuses.count(429) >= 3
