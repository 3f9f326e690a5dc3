"""What systemd hears of the service, over a real socket as systemd passes it."""

import contextlib
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.service import running_service


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
