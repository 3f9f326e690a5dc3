"""Workers are replaced, and the service is restarted, without failed requests."""

import contextlib
import os
import signal
import socket
from pathlib import Path

import pytest

from support.activation import activated_service, listening_socket, passing
from support.folders import filled_folder
from support.load import ReadingLoad
from support.service import Service, running_service, wait_for
from support.widgets import widget_line

pytestmark = pytest.mark.slow

_CLOCK = "/api/v1/widgets/acme/clock"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return filled_folder(tmp_path / "data", widget_line("acme/clock"))


def test_no_request_fails_while_sighup_replaces_the_workers(data: Path) -> None:
    with running_service(data, "--workers", "2") as service:
        before = set(service.worker_pids())
        with ReadingLoad(service.port, _CLOCK, pause_s=0.01) as load:
            service.process.send_signal(signal.SIGHUP)
            wait_for(lambda: "All workers were replaced" in service.log)
            load.wait_for(100)
        after = set(service.worker_pids())

        assert load.failures == []
        assert load.answered > 100
        assert (len(before), len(after)) == (2, 2)
        assert not before & after
        assert service.stop() == 0


def test_new_workers_have_the_settings_of_the_moment(data: Path, tmp_path: Path) -> None:
    config = tmp_path / "catalog.toml"
    config.write_text('service_name = "First"')
    with running_service(data, "--config", str(config)) as service, service.client() as client:
        assert client.get("/api/settings").json()["serviceName"] == "First"
        config.write_text('service_name = "Second"\nport = 1')
        service.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "All workers were replaced" in service.log)
        assert client.get("/api/settings").json()["serviceName"] == "Second"

        config.write_text("service_nam = 3")
        service.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "The workers are not replaced" in service.log)
        assert "service_nam" in service.log
        assert client.get("/api/settings").json()["serviceName"] == "Second"


def test_no_request_fails_over_restarts_when_the_service_manager_holds_the_socket(
    data: Path,
) -> None:
    with listening_socket() as listening:
        service = activated_service(data, listening)
        try:
            with ReadingLoad(service.port, _CLOCK, pause_s=0.01) as load:
                for _ in range(2):
                    load.wait_for(50)
                    assert service.stop() == 0, service.log
                    service = activated_service(data, listening)
                load.wait_for(50)
        finally:
            service.kill()

    assert load.failures == []


@pytest.mark.parametrize("kind", ["unix", "datagram", "not listening", "connected"])
def test_a_passed_socket_that_takes_no_tcp_connections_is_refused(
    data: Path, tmp_path: Path, kind: str
) -> None:
    with listening_socket() as listening, contextlib.ExitStack() as opened:
        port = listening.getsockname()[1]
        if kind == "unix":
            passed = opened.enter_context(socket.socket(socket.AF_UNIX))
            passed.bind(str(tmp_path / "socket"))
            passed.listen()
        elif kind == "connected":
            passed = opened.enter_context(socket.create_connection(("127.0.0.1", port)))
        else:
            type_ = socket.SOCK_DGRAM if kind == "datagram" else socket.SOCK_STREAM
            passed = opened.enter_context(socket.socket(type=type_))
            passed.bind(("127.0.0.1", 0))
        refused = "LISTEN_FDS: each of these sockets must listen on a TCP port."
        with pytest.raises(RuntimeError, match=refused):
            Service(data, **passing([passed]))


def test_sockets_meant_for_another_process_are_left_alone(data: Path) -> None:
    environment = {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1"}
    with running_service(data, environment=environment) as service, service.client() as client:
        assert client.get("/api/health").status_code == 200
