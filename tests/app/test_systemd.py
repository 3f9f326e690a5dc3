"""What systemd hears of the service, over a real socket as systemd passes it."""

import contextlib
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.activation import activated_service, listening_socket, passing
from support.service import Service, free_port, running_service, wait_for

pytestmark = pytest.mark.slow


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.settimeout(30)
        yield listening


def test_the_service_reports_that_it_is_ready_and_then_that_it_responds(
    tmp_path: Path, manager: socket.socket
) -> None:
    environment = {"NOTIFY_SOCKET": str(manager.getsockname()), "WATCHDOG_USEC": "300000"}

    with running_service(tmp_path / "data", environment=environment):
        assert manager.recv(100) == b"READY=1"
        assert manager.recv(100) == b"WATCHDOG=1"
        assert manager.recv(100) == b"WATCHDOG=1"


def test_a_service_whose_workers_hang_reports_nothing(
    tmp_path: Path, manager: socket.socket
) -> None:
    environment = {"NOTIFY_SOCKET": str(manager.getsockname()), "WATCHDOG_USEC": "300000"}

    with running_service(tmp_path / "data", environment=environment) as service:
        assert manager.recv(100) == b"READY=1"
        (worker,) = service.worker_pids()
        os.kill(worker, signal.SIGSTOP)
        manager.settimeout(2)
        reports = 0
        with contextlib.suppress(TimeoutError):
            while reports < 10:  # Some were already sent.
                reports += len(manager.recv(100)) > 0
        assert reports < 10
        os.kill(worker, signal.SIGCONT)
        manager.settimeout(30)
        assert manager.recv(100) == b"WATCHDOG=1"


def test_a_manager_that_does_not_listen_for_a_while_hears_of_it_later(
    tmp_path: Path, manager: socket.socket
) -> None:
    """Otherwise it would restart a service that responds."""
    environment = {"NOTIFY_SOCKET": str(manager.getsockname()), "WATCHDOG_USEC": "300000"}

    with running_service(tmp_path / "data", environment=environment) as service:
        assert manager.recv(100) == b"READY=1"
        (tmp_path / "notify").unlink()
        wait_for(lambda: "The service manager cannot be notified." in service.log)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as again:
            again.bind(str(tmp_path / "notify"))
            again.settimeout(30)
            assert again.recv(100) == b"WATCHDOG=1"
        assert "Traceback" not in service.log


def test_a_passed_socket_decides_where_the_service_listens(
    tmp_path: Path, manager: socket.socket
) -> None:
    environment = {"NOTIFY_SOCKET": str(manager.getsockname())}
    another = ("--host", "192.0.2.1", "--port", str(free_port()))
    with listening_socket() as listening:
        service = activated_service(tmp_path / "data", listening, *another, environment=environment)
        try:
            assert manager.recv(100) == b"READY=1"
            wait_for(lambda: f"is running at {service.url}\n" in service.log)
        finally:
            service.kill()


def test_a_worker_for_each_passed_socket_is_required(tmp_path: Path) -> None:
    """Nobody would accept the connections of the others."""
    with listening_socket() as one, listening_socket() as two:
        refused = "workers: must be at least 2, one for each socket that was passed."
        with pytest.raises(RuntimeError, match=refused):
            Service(tmp_path / "data", **passing([one, two]))
