"""Memory does not grow with the number of requests."""

from pathlib import Path

from support.folders import filled_folder
from support.service import Service, running_service
from support.widgets import version_line, widget_line

_MB = 1 << 20


def test_responses_that_a_client_has_to_wait_for_are_not_kept(tmp_path: Path) -> None:
    versions = [version_line(f"1.{i}.0", releaseNotes="n" * 20_000) for i in range(60)]
    lines = [widget_line(f"mid/w{i}", versions=versions) for i in range(8)]
    data = filled_folder(tmp_path / "data", *lines)
    # With such small caches, the registry is read again for every client.
    with running_service(data, "--set", "cache_mb=16") as service, service.client() as client:
        registry = client.get("/api/widgets/mid/registry.json", headers={"accept-encoding": "gzip"})
        assert registry.status_code == 200
        assert len(registry.content) > 9 * _MB
        assert "content-encoding" not in registry.headers  # It could not be cached.
        client.get("/sign-in")
        before = _memory(service)
        for _ in range(15):
            client.get("/api/widgets/mid/registry.json")
        for _ in range(300):
            client.get("/sign-in")
        assert _memory(service) - before < 40 * _MB


def _memory(service: Service) -> int:
    (worker,) = service.worker_pids()
    pages = int(Path(f"/proc/{worker}/statm").read_text().split()[1])
    return pages * 4096
