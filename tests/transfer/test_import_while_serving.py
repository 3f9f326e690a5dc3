"""Imports next to a running service: nobody waits for them, and all are completed."""

import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from support.author import Author, add_account, token_of
from support.folders import filled_folder
from support.service import clean_environment, run_command, running_service
from support.widgets import ndjson, widget_line
from transfer.importing import interrupted_import
from widget_catalog.catalog.node.node import open_node, prepare_node
from widget_catalog.operations.doctor import check_catalog

pytestmark = pytest.mark.slow

_WIDGETS = 2_500
_TIMEOUT_S = 60


def _lines(scope: str) -> list[dict[str, object]]:
    return [widget_line(f"{scope}/w{i}", downloadCount=3) for i in range(_WIDGETS)]


def _wait_for(client: httpx.Client, scope: str) -> None:
    """Until the service shows the whole scope; counts continue meanwhile."""
    deadline = time.monotonic() + _TIMEOUT_S
    while _total(client, scope) < _WIDGETS:
        assert time.monotonic() < deadline
        assert client.post("/api/v1/widgets/old/clock").status_code == 200
        time.sleep(0.05)


def _total(client: httpx.Client, scope: str) -> int:
    found = client.get("/api/v1/widgets/search", params={"scope": scope})
    total: int = found.json()["total"]
    return total


def test_an_import_that_waits_for_its_input_holds_nothing(tmp_path: Path) -> None:
    data = filled_folder(tmp_path / "data", widget_line("old/clock"))
    node = open_node(data)
    add_account(node, "ann")
    node.store.close()
    lines = ndjson(*_lines("piped")).splitlines(keepends=True)
    importing = subprocess.Popen(
        [sys.executable, "-m", "widget_catalog", "import", "-", "--data", str(data)],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=clean_environment(),
    )
    assert importing.stdin is not None
    try:
        importing.stdin.write(b"".join(lines[:-1]))
        importing.stdin.flush()

        # It has read its input so far, and waits; a service starts, and is not blocked.
        with running_service(data) as service, service.client() as client:
            token = token_of(service, "ann")
            with Author(service.url, token) as author:
                assert author.publish("ann/clock", "1.0.0").status_code == 200
            assert client.post("/api/v1/widgets/old/clock").status_code == 200
            assert client.get("/sign-in").status_code == 200
            assert run_command("stats", "--data", str(data)).returncode == 0
            reserved = run_command("scope", "reserve", "kept", "--data", str(data))
            assert reserved.returncode == 0, reserved.stderr
            assert importing.poll() is None
            assert _total(client, "piped") == 0

            importing.stdin.write(lines[-1])
            importing.stdin.close()
            assert importing.wait(_TIMEOUT_S) == 0
            assert _total(client, "piped") == _WIDGETS
    finally:
        importing.kill()
        importing.wait()


def test_a_service_goes_on_with_an_import_that_was_killed(tmp_path: Path) -> None:
    data = filled_folder(tmp_path / "data", widget_line("old/clock"))
    node = open_node(data)
    add_account(node, "ann")
    mine = widget_line("ann/clock")
    interrupted_import(node, *_lines("before"), mine, into_owned=True, batches=2)

    # The next start completes it; it serves immediately, and publishing builds on the import.
    with running_service(data) as service, service.client() as client:
        token = token_of(service, "ann")
        with Author(service.url, token) as author:
            assert author.publish("ann/clock", "1.0.0").status_code == 409
            assert author.publish("ann/clock", "2.0.0").status_code == 200
        _wait_for(client, "before")

        # And so does a running service.
        interrupted_import(node, *_lines("during"), batches=2)
        _wait_for(client, "during")
        versions = client.get("/api/v1/widgets/ann/clock").json()["versions"]
        assert [it["version"] for it in versions] == ["2.0.0", "1.0.0"]
        assert service.stop() == 0
    node.store.close()
    node = prepare_node(data)
    assert check_catalog(node.store, node.bundles, node.replica).is_healthy
    node.store.close()
