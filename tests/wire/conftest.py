"""One service for all hostile traffic, checked before and after."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.folders import filled_folder
from support.service import Service, running_service
from support.widgets import version_line, widget_line

# Small caches, so that growing memory means a leak.
_CACHE_MB = 4
_MAY_GROW_BY_BYTES = 48 << 20


@pytest.fixture(scope="session")
def exposed_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("wire")
    (folder / "clock.js").write_bytes(b"export default 1;\n" * 500)
    stored = {"bundleFile": "clock.js", "bundleUrl": None, "bundleSize": None, "sha256Hash": None}
    data = filled_folder(
        folder / "data",
        widget_line("acme/clock", versions=[version_line("1.0.0", **stored)]),
        widget_line("acme/hidden", listed=False),
        *[widget_line(f"other/w{i}", description="Größe \U0001f552") for i in range(40)],
        base_folder=folder,
    )
    arguments = ("--workers", "2", "--set", f"cache_mb={_CACHE_MB}")
    with running_service(data, *arguments) as service:
        yield service


@pytest.fixture
def unharmed_service(exposed_service: Service) -> Iterator[Service]:
    """The service; after any test it must be as healthy as before."""
    service = exposed_service
    pids = service.worker_pids()
    memory = _memory_bytes(pids)
    yield service
    assert service.worker_pids() == pids, f"A worker has died:\n{service.log}"
    with service.client() as client:
        assert client.get("/api/health").json()["status"] == "ok"
        detail = client.get("/api/v1/widgets/acme/clock")
        assert detail.status_code == 200
        assert json.loads(detail.content)["widget"]["name"] == "clock"
    assert "Traceback" not in service.log
    assert "[error" not in service.log
    assert _memory_bytes(pids) - memory < _MAY_GROW_BY_BYTES * len(pids)


def _memory_bytes(pids: list[int]) -> int:
    """Their resident memory; statm counts in pages."""
    pages = (int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids)
    return sum(pages) * os.sysconf("SC_PAGESIZE")
