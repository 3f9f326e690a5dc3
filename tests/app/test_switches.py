"""Optional features in the real service: logs, metrics, URLs."""

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from support.folders import empty_folder
from support.service import free_port, run_command, running_service
from support.widgets import ndjson, widget_line
from support.wire import connections_to_every_worker
from widget_catalog.core.http.metrics import forget_ended

pytestmark = pytest.mark.slow


def _eventually(check: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 10
    while not check():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _json_lines(log: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in log.splitlines() if line.startswith("{")]


def test_logs_and_metrics_are_off_by_default(tmp_path: Path) -> None:
    with running_service(empty_folder(tmp_path / "data")) as service, service.client() as client:
        client.get("/api/v1/widgets/search?q=findme")
        client.get("/metrics")

        assert "findme" not in service.log


def test_the_access_log_has_a_line_a_request_as_json(tmp_path: Path) -> None:
    flags = ("--access-log", "--log-format", "json")
    with (
        running_service(empty_folder(tmp_path / "data"), *flags) as service,
        service.client() as client,
    ):
        client.get("/api/v1/widgets/search?q=findme")
        client.post("/api/v1/widgets/no/such")

        assert _eventually(lambda: "/api/v1/widgets/no/such" in service.log)
        lines = [line for line in _json_lines(service.log) if line.get("message") == "request"]
    found = {(line["method"], line["path"]): line for line in lines}
    searched = found["GET", "/api/v1/widgets/search"]
    assert (searched["query"], searched["status"], searched["client"]) == (
        "q=findme",
        200,
        "127.0.0.1",
    )
    assert found["POST", "/api/v1/widgets/no/such"]["status"] == 404
    assert isinstance(searched["ms"], float)


def test_with_json_logs_every_line_is_json_the_greeting_too(tmp_path: Path) -> None:
    with running_service(empty_folder(tmp_path / "data"), "--log-format", "json") as service:
        assert _eventually(lambda: "The service is ready." in service.log)
        assert [line["url"] for line in _json_lines(service.log)] == [service.url]
        assert all(line.startswith("{") for line in service.log.splitlines())


def test_metrics_are_the_sum_over_all_workers(tmp_path: Path) -> None:
    port = free_port()
    flags = ("--workers", "2", "--metrics-port", str(port))
    with running_service(empty_folder(tmp_path / "data"), *flags) as service:
        with connections_to_every_worker(service) as found:
            assert len(found) == 2
            for held in found.values():
                for _ in range(20):
                    held[0].ask("GET", "/api/v1/widgets/search")
                    held[0].ask("GET", "/api/v1/widgets/no/such")
        text = httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=60).text

    searches = 'widget_catalog_requests_total{method="GET",route="search",status="200"} 40.0'
    missing = 'widget_catalog_requests_total{method="GET",route="detail",status="404"} 40.0'
    assert searches in text
    assert missing in text
    assert 'widget_catalog_request_seconds_count{route="search"} 40.0' in text


def test_gauges_of_a_worker_that_has_ended_are_forgotten(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    files = {pid: tmp_path / f"gauge_livesum_{pid}.db" for pid in (ended.pid, os.getpid())}
    for file in files.values():
        file.touch()

    forget_ended(tmp_path)

    assert [pid for pid, file in files.items() if file.exists()] == [os.getpid()]


@pytest.mark.parametrize("path", ["/api/v1/widgets/search", "/api/version"])
def test_a_rate_limit_says_when_to_come_back(tmp_path: Path, path: str) -> None:
    flags = ("--rate-limit", "3/hour")
    with (
        running_service(empty_folder(tmp_path / "data"), *flags) as service,
        service.client() as client,
    ):
        responses = [client.get(path) for _ in range(5)]
        health = client.get("/api/health")

    # One request was sent by the greeting.
    assert responses[0].status_code == 200
    refused = responses[-1]
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["retry-after"]) <= 3600
    assert list(refused.json()) == ["error"]
    assert ("access-control-allow-origin" in refused.headers) is path.startswith("/api/v1/")
    assert health.status_code == 200


def test_base_url_and_cdn_base_url_are_what_people_see(tmp_path: Path) -> None:
    data, file = tmp_path / "data", tmp_path / "one.ndjson"
    (tmp_path / "clock.js").write_text("export default 1")
    line = widget_line("acme/clock")
    bundle = {"bundleFile": "clock.js"}
    version = {k: v for k, v in line["versions"][0].items() if k not in _COMPUTED} | bundle
    file.write_bytes(ndjson(line | {"versions": [version]}))
    assert run_command("import", str(file), "--data", str(data)).returncode == 0
    flags = ("--base-url", "https://catalog.example", "--cdn-base-url", "https://cdn.example/w/")

    with running_service(data, *flags) as service, service.client() as client:
        detail = client.get("/api/v1/widgets/acme/clock").json()
        registry = client.get("/api/widgets/acme/registry.json").json()
        told = client.get("/api/settings").json()
        bundle_bytes = client.get("/cdn/@acme/clock/1.0.0/index.js").content

    address = "https://cdn.example/w/@acme/clock/1.0.0/index.js"
    assert detail["versions"][0]["bundleUrl"] == address
    assert registry["baseUrl"] == "https://cdn.example/w/"
    assert registry["widgets"][0]["versions"][0]["bundleUrl"] == address
    assert (told["baseUrl"], told["cdnBaseUrl"]) == (
        "https://catalog.example",
        "https://cdn.example/w",
    )
    assert bundle_bytes == b"export default 1"


_COMPUTED = ("bundleUrl", "bundleSize", "sha256Hash")
