"""The id of a request: in errors, pages, internal responses and the log; in public successes only
if the caller sent it."""

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.folders import filled_folder
from support.locks import held_by_another_process
from support.service import Service, running_service, wait_for
from widget_catalog.core.data_folder import DataFolder

pytestmark = pytest.mark.slow

MADE = re.compile(r"[0-9a-f]{16}")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    data = filled_folder(tmp_path_factory.mktemp("ids") / "data")
    with running_service(data) as running:
        yield running


@pytest.mark.parametrize(
    "path", ["/api/v1/widgets/no/such", "/api/auth/session", "/", "/sign-in", "/no-page", "/cdn/x"]
)
def test_errors_pages_and_internal_responses_have_an_id(service: Service, path: str) -> None:
    with service.client() as client:
        first, second = client.get(path), client.get(path)
        given = client.get(path, headers={"x-request-id": "mine"})

    assert MADE.fullmatch(first.headers["x-request-id"]), path
    assert first.headers["x-request-id"] != second.headers["x-request-id"]
    assert given.headers["x-request-id"] == "mine"


@pytest.mark.parametrize("path", ["/api/v1/widgets/search", "/api/version"])
def test_a_public_success_has_one_only_if_the_caller_sent_it(service: Service, path: str) -> None:
    with service.client() as client:
        assert "x-request-id" not in client.get(path).headers
        given = client.get(path, headers={"x-request-id": "mine"})
    assert given.headers["x-request-id"] == "mine"


@pytest.mark.parametrize("sent", ["", "a b", "x" * 129, "a\tb", "<b>"])
def test_an_id_that_could_forge_a_log_line_is_replaced(service: Service, sent: str) -> None:
    with service.client() as client:
        response = client.get("/sign-in", headers={"x-request-id": sent})
    assert MADE.fullmatch(response.headers["x-request-id"])


def test_a_slow_request_is_logged_with_its_parts_and_its_id(tmp_path: Path) -> None:
    form = {"username": "nobody", "password": "wrong password"}
    logs = ("--log-format", "json")
    with running_service(tmp_path / "data", *logs) as service, service.client() as client:
        with held_by_another_process(DataFolder(tmp_path / "data").writer_lock) as other:
            threading.Timer(1.5, other.kill).start()
            client.post("/api/auth/sign-in", json=form, headers={"x-request-id": "slow-one"})
        wait_for(lambda: "slow-one" in service.log)
        lines = [json.loads(it) for it in service.log.splitlines() if it.startswith("{")]

    (line,) = [it for it in lines if it.get("request_id") == "slow-one"]
    assert line["message"] == "A request was slow."
    assert (line["method"], line["path"]) == ("POST", "/api/auth/sign-in")
    parts = line["parts_ms"]
    assert isinstance(parts, dict)
    assert {"action", "transaction", "lock", "statement", "commit"} <= parts.keys()
    assert parts["action"] <= line["ms"]
