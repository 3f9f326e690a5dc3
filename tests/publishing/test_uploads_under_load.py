"""Uploads: concurrent, aborted, killed, on a slow disk. Nothing accumulates."""

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

import pytest

from support.author import Author, add_account, token_of
from support.people import request_body
from support.service import Service, run_command, running_service, wait_for
from support.wire import WireConnection, connections_to_every_worker, request
from widget_catalog.catalog.node.node import prepare_node

pytestmark = pytest.mark.slow

_BUNDLE = Random(1).randbytes(300_000)
_NO_LIMITS = ("--set", "max_open_requests=0")
_SMALL = "/api/v1/widgets/search"
_SLOW_S = 3
# Simulates a slow disk: writing the first bytes of an upload takes a while.
_SLOW_DISK = f"""
import os, time

write = os.write

def write_slowly(descriptor, data):
    is_upload = "/uploads/" in os.readlink(f"/proc/self/fd/{{descriptor}}")
    if is_upload and not os.fstat(descriptor).st_size:
        time.sleep({_SLOW_S})
    return write(descriptor, data)

os.write = write_slowly
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    node = prepare_node(tmp_path / "data")
    add_account(node, "ann")
    node.store.close()
    return node.folder.path


def test_a_file_has_one_receiver_and_nothing_is_left_of_a_killed_one(data: Path) -> None:
    uploads = data / "uploads"
    with running_service(data, "--workers", "2", *_NO_LIMITS) as service:
        address = _requested(service, "ann/clock")
        with _half_sent(service, address):
            wait_for(lambda: _sizes(uploads) == [len(_BUNDLE) // 2])
            with connections_to_every_worker(service, each=10) as found:
                for connection in [it for held in found.values() for it in held]:
                    connection.send(_put(address) + _BUNDLE)
                    response = connection.response()
                    assert response.status == 409
                    assert json.loads(response.body) == {
                        "error": "This file is being uploaded already. Wait until that upload "
                        "has ended."
                    }
            assert _sizes(uploads) == [len(_BUNDLE) // 2]
        # That client has disconnected; the next one need not wait.
        wait_for(lambda: _sizes(uploads) == [])
        with _half_sent(service, address):
            wait_for(lambda: _sizes(uploads) == [len(_BUNDLE) // 2])
            service.kill()
    assert _sizes(uploads) == [len(_BUNDLE) // 2]
    _leave(uploads / ".incoming-of-an-old-release", data / "bundles" / ".incoming-abc")

    with running_service(data, *_NO_LIMITS) as service:
        wait_for(lambda: _files(data / "uploads", data / "bundles") == [])
        with WireConnection(service.port) as connection:
            connection.send(_put(address) + _BUNDLE)
            assert connection.response().status == 200
    assert _sizes(uploads) == [len(_BUNDLE)]
    _leave(uploads / ".incoming-x.js", uploads / "unknown.js", data / "bundles" / ".incoming-y")

    cleaned = run_command("doctor", "--clean", "--data", str(data))

    assert cleaned.returncode == 0, cleaned
    # The upload of a request that may still be confirmed stays.
    assert _sizes(uploads) == [len(_BUNDLE)]
    assert _files(data / "bundles") == []


def test_on_a_slow_disk_nobody_waits_for_an_upload(data: Path, tmp_path: Path) -> None:
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow" / "sitecustomize.py").write_text(_SLOW_DISK)
    environment = {"PYTHONPATH": str(tmp_path / "slow")}
    with running_service(data, *_NO_LIMITS, environment=environment) as service:
        addresses = [_requested(service, f"ann/w{i}") for i in range(3)]
        with contextlib.ExitStack() as opened, WireConnection(service.port) as reader:
            assert reader.ask("GET", _SMALL).status == 200
            began = time.monotonic()
            senders = []
            for address in addresses:
                senders.append(opened.enter_context(WireConnection(service.port, timeout_s=120)))
                senders[-1].send(_put(address) + _BUNDLE)
            took = []
            while time.monotonic() - began < _SLOW_S:
                asked = time.monotonic()
                assert reader.ask("GET", _SMALL).status == 200
                took.append(time.monotonic() - asked)
            assert max(took) < _SLOW_S
            assert sum(took) / len(took) < _SLOW_S / 10
            assert [it.response().status for it in senders] == [200] * 3
        assert time.monotonic() - began > _SLOW_S


def test_a_worker_receives_so_many_bytes_at_a_time_and_waits_for_nobody_too_long(
    data: Path,
) -> None:
    large = ("--set", f"max_bundle_bytes={100 << 20}", "--set", "max_bytes_per_day=0")
    with running_service(data, *_NO_LIMITS, *large) as service:
        addresses = [_requested(service, f"ann/w{i}", 40 << 20) for i in range(2)]
        with (
            WireConnection(service.port, timeout_s=120) as first,
            WireConnection(service.port) as second,
        ):
            first.send(_put(addresses[0], 40 << 20) + _BUNDLE)
            wait_for(lambda: len(_sizes(data / "uploads")) == 1)
            second.send(_put(addresses[1], 40 << 20) + _BUNDLE)

            refused = second.response()
            # The first one sends nothing more, for 30 s.
            given_up = first.response()

        assert (refused.status, refused.headers["retry-after"]) == (503, "5")
        assert json.loads(refused.body) == {
            "error": "Many files are being uploaded just now. Try again in 5 seconds."
        }
        assert given_up.status == 408
        assert json.loads(given_up.body) == {"error": "The file did not come in time."}
        assert _sizes(data / "uploads") == []
        small = _requested(service, "ann/small")
        with WireConnection(service.port) as connection:
            connection.send(_put(small) + _BUNDLE)
            assert connection.response().status == 200


def _requested(service: Service, key: str, size: int = len(_BUNDLE)) -> str:
    """The upload URL of a new version's bundle."""
    body = request_body(key, "1.0.0", _BUNDLE)
    body |= {"bundleSize": size, "sha256Hash": hashlib.sha256(_BUNDLE).hexdigest()}
    with Author(service.url, token_of(service, "ann")) as author:
        response = author.client.post("/api/widgets/publish", json=body)
    assert response.status_code == 200, response.text
    parts = urlsplit(response.json()["uploadUrl"])
    return f"{parts.path}?{parts.query}"


def _put(address: str, size: int = len(_BUNDLE)) -> bytes:
    return request("PUT", address, f"Content-Length: {size}")


@contextlib.contextmanager
def _half_sent(service: Service, address: str) -> Iterator[None]:
    with WireConnection(service.port) as connection:
        connection.send(_put(address) + _BUNDLE[: len(_BUNDLE) // 2])
        yield


def _leave(*paths: Path) -> None:
    """Leftovers of earlier processes, a week old."""
    for path in paths:
        path.write_bytes(b"half")
        os.utime(path, (time.time() - 7 * 86_400,) * 2)


def _files(*folders: Path) -> list[Path]:
    return [it for folder in folders for it in folder.rglob("*") if it.is_file()]


def _sizes(folder: Path) -> list[int]:
    sizes = []
    for path in _files(folder):
        with contextlib.suppress(FileNotFoundError):
            sizes.append(path.stat().st_size)
    return sizes
