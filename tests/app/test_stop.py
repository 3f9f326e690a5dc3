"""SIGTERM and SIGINT: a prompt and clean end, whatever the clients are doing."""

import contextlib
import fcntl
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.folders import filled_folder
from support.load import CountingLoad
from support.service import Service, run_command, running_service
from support.widgets import widget_line
from support.wire import WireConnection, connections_to_every_worker, request

pytestmark = pytest.mark.slow

_PROMPT_S = 10
_KEYS = ["acme/clock", "acme/bell"]
_CLOCK = "/api/v1/widgets/acme/clock"
_SIGNALS = [signal.SIGTERM, signal.SIGINT]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return filled_folder(tmp_path / "data", *[widget_line(key) for key in _KEYS])


@pytest.mark.parametrize("number", _SIGNALS, ids=lambda it: it.name)
def test_it_ends_well_and_soon_whatever_clients_do(data: Path, number: signal.Signals) -> None:
    with running_service(data, "--workers", "2") as service, contextlib.ExitStack() as clients:
        clients.enter_context(connections_to_every_worker(service, each=2))  # Idle ones.
        for open_client in (_silent, _half_sent, _half_a_body, _never_reading):
            clients.enter_context(open_client(service.port))
        time.sleep(0.2)  # The server has received the request by now.

        _assert_ends_well(service, lambda: service.process.send_signal(number))


@pytest.mark.parametrize("number", _SIGNALS, ids=lambda it: it.name)
def test_it_ends_well_when_workers_hear_the_signal_too(data: Path, number: signal.Signals) -> None:
    """As with Ctrl-C: the terminal signals every process."""
    with running_service(data, "--workers", "2") as service, connections_to_every_worker(service):
        _assert_ends_well(service, lambda: os.killpg(service.process.pid, number))


def test_ctrl_c_with_nobody_connected_is_no_error(data: Path) -> None:
    with running_service(data) as service:
        _assert_ends_well(service, lambda: os.killpg(service.process.pid, signal.SIGINT))
        assert "error" not in service.log


@pytest.mark.parametrize("number", _SIGNALS, ids=lambda it: it.name)
def test_it_ends_well_while_workers_are_still_starting(data: Path, number: signal.Signals) -> None:
    """The first worker has responded by now; most others have not even opened the port."""
    with running_service(data, "--workers", "5") as service:
        _assert_ends_well(service, lambda: service.process.send_signal(number))


@pytest.mark.parametrize("number", _SIGNALS, ids=lambda it: it.name)
def test_counts_in_flight_are_answered_or_refused_and_none_acknowledged_is_lost(
    data: Path, number: signal.Signals
) -> None:
    with running_service(data, "--workers", "2") as service:
        with CountingLoad(service, _KEYS, clients=8) as load:
            load.wait_for(200)
            _assert_ends_well(service, lambda: service.process.send_signal(number))
        assert load.statuses.keys() == {200}
    with running_service(data) as service, service.client() as client:
        for key in _KEYS:
            shown = client.get(f"/api/v1/widgets/{key}").json()["widget"]["downloadCount"]
            assert load.acknowledged[key] <= shown <= load.attempted[key]


def test_a_count_that_waits_for_a_long_write_is_refused_or_dropped_but_holds_nothing_up(
    data: Path,
) -> None:
    with running_service(data) as service:
        connection = WireConnection(service.port)
        with _long_write(data):
            connection.send(request("POST", _CLOCK))
            time.sleep(0.2)

            _assert_ends_well(service, lambda: service.process.send_signal(signal.SIGTERM))

        # It was not counted, so it must not have been acknowledged.
        assert b" 200 OK" not in connection.rest()
        connection.close()
    stats = run_command("stats", "--data", str(data))
    assert b'"downloads":0' in stats.stdout, stats


def test_the_port_is_free_again_at_once(data: Path) -> None:
    with running_service(data) as service:
        assert service.stop() == 0
        again = Service(data, port=service.port)
        try:
            assert again.stop() == 0
        finally:
            again.kill()


def _silent(port: int) -> WireConnection:
    """Connected, without sending anything."""
    return WireConnection(port)


def _half_sent(port: int) -> WireConnection:
    """In the middle of a header, forever."""
    connection = WireConnection(port)
    connection.send(b"GET /api/health HTTP/1.1\r\nHo")
    return connection


def _half_a_body(port: int) -> WireConnection:
    connection = WireConnection(port)
    connection.send(request("POST", _CLOCK, "Content-Length: 1000") + b"abc")
    assert connection.response().status == 200
    return connection


def _never_reading(port: int) -> WireConnection:
    """Requests more than all buffers hold, and reads nothing."""
    connection = WireConnection(port)
    connection.socket.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        for _ in range(2_000):
            connection.socket.send(request("GET", "/docs/api") * 20)
    return connection


def _assert_ends_well(service: Service, tell: Callable[[], None]) -> None:
    began = time.monotonic()
    tell()
    assert service.process.wait(60) == 0, service.log
    assert time.monotonic() - began < _PROMPT_S
    assert service.is_gone(), "A worker was left behind."
    assert "Traceback" not in service.log


@contextlib.contextmanager
def _long_write(data: Path) -> Iterator[None]:
    """Holds the writer lock, like a long import."""
    with (data / "run" / "writer.lock").open("r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
