"""The workers of a node share its cache of bundles, and fetch the same one at the same time."""

import contextlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.s3 import settings_of
from support.service import run_command, running_service
from support.widgets import ndjson, version_line, widget_line

_BUNDLES = 40
_CLIENTS = 16


@pytest.mark.parametrize("encoding", ["identity", "br"])
def test_a_bundle_that_many_request_at_once_is_served_to_all(
    rclone_port: int, tmp_path: Path, encoding: str
) -> None:
    data, lines = tmp_path / "data", []
    elsewhere: dict[str, Any] = {"bundleUrl": None, "bundleSize": None, "sha256Hash": None}
    files = [tmp_path / f"{number}.js" for number in range(_BUNDLES)]
    for file in files:
        file.write_bytes(f"// {encoding} {file.stem}\n".encode() * 5_000)
        version = version_line(bundleFile=file.name, **elsewhere)
        lines.append(widget_line(f"acme/w{file.stem}", versions=[version]))
    (tmp_path / "widgets.ndjson").write_bytes(ndjson(*lines))
    settings = settings_of(rclone_port).items()
    environment = {f"WIDGET_CATALOG_{key.upper()}": value for key, value in settings}
    source = str(tmp_path / "widgets.ndjson")
    done = run_command("import", source, "--data", str(data), environment=environment)
    assert done.returncode == 0, done.stderr

    with contextlib.ExitStack() as stack:
        service = stack.enter_context(
            running_service(data, "--workers", "3", environment=environment)
        )
        clients = [stack.enter_context(service.client()) for _ in range(_CLIENTS)]
        threads = stack.enter_context(ThreadPoolExecutor(_CLIENTS))
        for file in files:
            url = f"/cdn/@acme/w{file.stem}/1.0.0/index.js"

            def get(client: httpx.Client, url: str = url) -> tuple[int, bytes]:
                response = client.get(url, headers={"accept-encoding": encoding})
                return response.status_code, response.content

            assert set(threads.map(get, clients)) == {(200, file.read_bytes())}
