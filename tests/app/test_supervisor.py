"""Workers that die, hang, or are left without their parent."""

import contextlib
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from support.folders import filled_folder
from support.service import Service, free_port, is_running, running_service, wait_for
from support.widgets import version_line, widget_line
from support.wire import WireConnection, request
from widget_catalog.app.supervisor import reserve

pytestmark = pytest.mark.slow

_CLOCK = "/api/v1/widgets/acme/clock"
_DESCRIPTORS = 256
_NEVER_STARTS = """
import sys
from unittest.mock import patch
from widget_catalog.app import server
from widget_catalog.core.settings import Settings

def fail(*_, **__):
    raise SystemExit("This worker cannot start.")

settings = Settings(port=int(sys.argv[1]))
with patch.object(server, "_load", fail):
    server.serve(settings, on_ready=lambda: None, read_settings=lambda: settings)
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return filled_folder(tmp_path / "data", widget_line("acme/clock"))


def test_a_worker_that_dies_again_and_again_does_not_end_the_others(data: Path) -> None:
    with running_service(data, "--workers", "2") as service, service.client() as client:
        survivor = min(set(service.worker_pids()))
        # After the fourth, its successor is started two seconds later.
        for deaths in range(1, 5):
            wait_for(lambda: len(set(service.worker_pids())) == 2)
            for victim in set(service.worker_pids()) - {survivor}:
                os.kill(victim, signal.SIGKILL)
            wait_for(partial(_has_logged, service, "A worker died", deaths))
        health = client.get("/api/health")

        assert health.status_code == 200
        assert health.json()["checks"]["workers"] == "1 of 2 running"
        for _ in range(20):
            # Over new connections: none may reach the missing worker.
            with service.client() as visitor:
                assert visitor.get(_CLOCK).status_code == 200
        wait_for(lambda: client.get("/api/health").json()["checks"].get("workers") is None)
        assert survivor in set(service.worker_pids())
        assert service.stop() == 0


def test_metrics_count_workers_that_died(data: Path) -> None:
    port = free_port()
    with running_service(data, "--metrics-port", str(port)) as service:
        with service.client() as client:
            os.kill(set(service.worker_pids()).pop(), signal.SIGKILL)
            wait_for(lambda: "A worker died" in service.log)
            text = client.get(f"http://127.0.0.1:{port}/metrics").text
        assert "widget_catalog_worker_deaths_total 1.0" in text
        assert "widget_catalog_workers_missing" in text


def test_a_service_whose_workers_never_start_ends_with_a_error() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _NEVER_STARTS, str(free_port())],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "No worker could start" in done.stdout + done.stderr


def test_a_worker_that_hangs_ends_with_its_parent(data: Path) -> None:
    """While stopped, it can neither handle a signal nor run a thread: only the kernel
    can end it.
    """
    with running_service(data, "--workers", "2") as service:
        hung, other = service.worker_pids()
        os.kill(hung, signal.SIGSTOP)
        service.process.kill()
        service.process.wait()
        wait_for(lambda: not (is_running(hung) or is_running(other)))


def test_more_connections_than_descriptors_wait_their_turn_and_cost_nothing(data: Path) -> None:
    with running_service(data, before=_with_few_descriptors) as service:
        (worker,) = set(service.worker_pids())
        idle = [_connected(service) for _ in range(_DESCRIPTORS + 50)]
        wait_for(lambda: "reached its connection limit" in service.log)
        before_s = _cpu_seconds(worker)
        time.sleep(2)
        assert _cpu_seconds(worker) - before_s < 0.5
        for connection in idle:
            connection.close()
        with service.client() as client:
            assert client.get(_CLOCK).status_code == 200


def test_at_the_limit_of_descriptors_bundles_can_still_be_opened(tmp_path: Path) -> None:
    """Each slow client takes two descriptors: its connection, and the file."""
    (tmp_path / "clock.js").write_bytes(bytes(2 << 20))
    stored = {"bundleFile": "clock.js", "bundleUrl": None, "bundleSize": None, "sha256Hash": None}
    clock = widget_line("acme/clock", versions=[version_line("1.0.0", **stored)])
    data = filled_folder(tmp_path / "data", clock, base_folder=tmp_path)
    with running_service(data, before=_with_few_descriptors) as service:
        with contextlib.ExitStack() as opened:
            wanted = request("GET", "/cdn/@acme/clock/1.0.0/index.js")
            unread = [
                opened.enter_context(WireConnection(service.port)) for _ in range(_DESCRIPTORS)
            ]
            for connection in unread:
                connection.send(wanted)
            wait_for(lambda: "reached its connection limit" in service.log)
            # The others are queued.
            answered, _, _ = select.select([it.socket for it in unread], [], [], 10)
            assert {it.recv(12) for it in answered} == {b"HTTP/1.1 200"}
        with service.client() as client:
            assert client.get(_CLOCK).status_code == 200


def _with_few_descriptors() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (_DESCRIPTORS, _DESCRIPTORS))


def _has_logged(service: Service, text: str, times: int) -> bool:
    return service.log.count(text) == times


def _connected(service: Service) -> socket.socket:
    connection = socket.socket()
    connection.setblocking(False)
    connection.connect_ex(("127.0.0.1", service.port))
    return connection


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_port_whose_workers_are_starting_refuses_connections() -> None:
    with reserve("127.0.0.1", 0) as own, reserve("127.0.0.1", own.getsockname()[1]) as other:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(own.getsockname())

        own.listen()

        # None reaches the worker that is not ready yet.
        for _ in range(20):
            with socket.create_connection(other.getsockname()), own.accept()[0]:
                pass
