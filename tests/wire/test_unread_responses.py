"""Clients that request megabytes and read nothing: they take little memory, and not for long."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from support.folders import filled_folder
from support.service import Service, running_service
from support.widgets import version_line, widget_line
from support.wire import WireConnection, connections_to_every_worker, request

_CLIENTS = 500
_MAY_TAKE_BYTES = 150 << 20
_SMALL = "/api/v1/widgets/acme/small"
_REGISTRY = "/api/widgets/acme/registry.json"
# In chunks, plain and compressed; a bundle from its file.
_LARGE = [
    (_REGISTRY, "identity"),
    (_REGISTRY, "zstd"),
    ("/api/v1/widgets/acme/big0", "identity"),
    ("/api/v1/widgets/acme/big0", "gzip"),
    ("/cdn/@acme/clock/1.0.0/index.js", "identity"),
    ("/api/v1/widgets/acme/medium", "identity"),
]
# The kernel closes a connection 30 s after its client last read.
_ENDED_AFTER_S = 30
_AT_THE_LATEST_S = 90


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("unread")
    random = Random(1)
    words = [random.randbytes(random.randint(1, 4)).hex() for _ in range(3000)]
    notes = [" ".join(random.choices(words, k=3300))[:20_000] for _ in range(50)]
    (folder / "clock.js").write_bytes(random.randbytes(1_000_000).hex().encode())
    stored = {"bundleFile": "clock.js", "bundleUrl": None, "bundleSize": None, "sha256Hash": None}

    def versions(count: int) -> list[dict[str, object]]:
        return [version_line(f"1.{i}.0", releaseNotes=random.choice(notes)) for i in range(count)]

    data = filled_folder(
        folder / "data",
        *[widget_line(f"acme/big{i}", versions=versions(225)) for i in range(3)],
        widget_line("acme/medium", versions=versions(6)),
        widget_line("acme/clock", versions=[version_line("1.0.0", **stored)]),
        widget_line("acme/small"),
        base_folder=folder,
    )
    with running_service(data, "--workers", "2") as made:
        yield made


@pytest.mark.timeout(300)
def test_clients_that_never_read_take_little_memory_and_are_ended(service: Service) -> None:
    whole = _read_everything_once(service)
    assert 12 << 20 < len(whole) < 16 << 20
    before = _memory_bytes(service)
    few = _connections(service)
    slow = _SlowButSteady(service, whole)
    with contextlib.ExitStack() as opened:
        began = time.monotonic()
        for number in range(_CLIENTS):
            opened.enter_context(_ask_and_wait(service, number))
        trickling = opened.enter_context(_ask_and_wait(service, 0))
        slow.start()

        slowest, most = 0.0, 0
        while time.monotonic() - began < _ENDED_AFTER_S / 2:
            slowest = max(slowest, _time_of(service, _SMALL))
            most = max(most, _memory_bytes(service) - before)
            _read_a_byte(trickling)
            time.sleep(0.5)
        assert _connections(service) >= few + _CLIENTS
        assert most < _MAY_TAKE_BYTES, f"{most:,} bytes more"
        assert slowest < 5
        with WireConnection(service.port) as connection:
            body = connection.ask("GET", _REGISTRY, "Accept-Encoding: identity").body
        assert body == whole

        # Only the client that reads steadily is left.
        while _connections(service) > few + 1:
            assert time.monotonic() - began < _AT_THE_LATEST_S, _connections(service)
            _read_a_byte(trickling)
            time.sleep(0.5)
    assert slow.result() == "whole"
    assert "Traceback" not in service.log
    assert "[error" not in service.log


class _SlowButSteady(threading.Thread):
    """Reads slowly for longer than a client may pause, then the rest; it must not be
    disconnected.
    """

    def __init__(self, service: Service, expected: bytes) -> None:
        super().__init__()
        self._service = service
        self._expected = expected
        self._result = "nothing"

    def run(self) -> None:
        try:
            with WireConnection(self._service.port) as connection:
                connection.send(request("GET", _REGISTRY, "Accept-Encoding: identity"))
                until = time.monotonic() + _ENDED_AFTER_S + 5
                while time.monotonic() < until:
                    connection.received += connection.socket.recv(50_000)
                    time.sleep(0.5)
                is_whole = connection.response().body == self._expected
                self._result = "whole" if is_whole else "damaged"
        except (OSError, EOFError) as error:
            self._result = repr(error)

    def result(self) -> str:
        self.join()
        return self._result


def _read_everything_once(service: Service) -> bytes:
    """So that shared data is in memory before measuring. Returns the registry."""
    registry = b""
    with connections_to_every_worker(service) as found:
        for held in found.values():
            for path, encoding in _LARGE:
                response = held[0].ask("GET", path, f"Accept-Encoding: {encoding}")
                assert response.status == 200
                registry = registry or response.body
    return registry


@contextlib.contextmanager
def _ask_and_wait(service: Service, number: int) -> Iterator[socket.socket]:
    path, encoding = _LARGE[number % len(_LARGE)]
    with WireConnection(service.port) as connection:
        # Further requests wait in the connection: their responses must not accumulate either.
        connection.send(request("GET", path, f"Accept-Encoding: {encoding}") * 5)
        yield connection.socket


def _read_a_byte(trickling: socket.socket) -> None:
    with contextlib.suppress(OSError):
        trickling.recv(1)


def _connections(service: Service) -> int:
    """As seen by the workers: the kernel does not notify a client that does not read."""
    files = (it for pid in service.worker_pids() for it in Path(f"/proc/{pid}/fd").iterdir())
    count = 0
    for file in files:
        with contextlib.suppress(FileNotFoundError):
            count += str(file.readlink()).startswith("socket:")
    return count


def _time_of(service: Service, path: str) -> float:
    began = time.monotonic()
    with connections_to_every_worker(service) as found:
        for held in found.values():
            assert held[0].ask("GET", path).status == 200
    return time.monotonic() - began


def _memory_bytes(service: Service) -> int:
    """The private memory of the workers, and their share of shared memory."""
    total = 0
    for pid in service.worker_pids():
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1]) * 1024
    return total
