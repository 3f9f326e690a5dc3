"""The workers of a node share its cache of bundles, and fetch the same one at the same time."""

import contextlib
import os
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.relay import Relay
from support.s3 import settings_of
from support.service import run_command, running_service
from support.widgets import ndjson, version_line, widget_line

pytestmark = pytest.mark.slow

_BUNDLES = 40
_CLIENTS = 16


def import_bundles(data: Path, count: int, label: str, environment: dict[str, str]) -> list[Path]:
    """Each of a widget named `acme/w…`."""
    lines = []
    elsewhere: dict[str, Any] = {"bundleUrl": None, "bundleSize": None, "sha256Hash": None}
    files = [data.parent / f"{number}.js" for number in range(count)]
    for file in files:
        file.write_bytes(f"// {label} {file.stem}\n".encode() * 5_000)
        version = version_line(bundleFile=file.name, **elsewhere)
        lines.append(widget_line(f"acme/w{file.stem}", versions=[version]))
    source = data.parent / "widgets.ndjson"
    source.write_bytes(ndjson(*lines))
    done = run_command("import", str(source), "--data", str(data), environment=environment)
    assert done.returncode == 0, done.stderr
    return files


def environment_of(port: int) -> dict[str, str]:
    return {f"WIDGET_CATALOG_{key.upper()}": value for key, value in settings_of(port).items()}


def get(client: httpx.Client, file: Path, encoding: str) -> tuple[int, bytes]:
    url = f"/cdn/@acme/w{file.stem}/1.0.0/index.js"
    response = client.get(url, headers={"accept-encoding": encoding})
    return response.status_code, response.content


@pytest.mark.parametrize("encoding", ["identity", "br"])
def test_a_bundle_that_many_request_at_once_is_served_to_all(
    rclone_port: int, tmp_path: Path, encoding: str
) -> None:
    environment = environment_of(rclone_port)
    files = import_bundles(tmp_path / "data", _BUNDLES, encoding, environment)

    with contextlib.ExitStack() as stack:
        service = stack.enter_context(
            running_service(tmp_path / "data", "--workers", "3", environment=environment)
        )
        clients = [stack.enter_context(service.client()) for _ in range(_CLIENTS)]
        threads = stack.enter_context(ThreadPoolExecutor(_CLIENTS))
        for file in files:
            found = set(threads.map(get, clients, repeat(file), repeat(encoding)))
            assert found == {(200, file.read_bytes())}


def test_a_store_that_hangs_does_not_hold_up_what_is_in_the_cache(
    rclone_port: int, tmp_path: Path
) -> None:
    with contextlib.ExitStack() as stack:
        store = stack.enter_context(Relay(("127.0.0.1", rclone_port)))
        environment = environment_of(store.port)
        files = import_bundles(tmp_path / "data", 12, "cached", environment)
        service = stack.enter_context(running_service(tmp_path / "data", environment=environment))
        clients = [stack.enter_context(service.client()) for _ in files]
        for client, file in zip(clients, files, strict=True):
            assert get(client, file, "identity") == (200, file.read_bytes())
        # As after a restart: the worker has to verify them.
        for cached in service.data.glob("bundle-cache/??/*.js"):
            os.utime(cached)
        store.silence()

        threads = stack.enter_context(ThreadPoolExecutor(len(files)))
        began = time.monotonic()
        found = list(threads.map(get, clients, files, repeat("br")))

    assert found == [(200, it.read_bytes()) for it in files]
    # A request to the store is given up after 15 s, and repeated.
    assert time.monotonic() - began < 15
