"""A damaged bundle is never served with 200, and the operator is told."""

import contextlib
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from backup.backups import catalog_with_bundles
from core.files.test_verified import rot
from support.commands import widget_catalog
from support.service import Service, free_port, running_service, wait_for

URL = "/cdn/@acme/w{}/1.0.0/index.js"


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return catalog_with_bundles(tmp_path_factory.mktemp("catalog"))


@pytest.fixture
def data(healthy: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "data"
    shutil.copytree(healthy, copy, ignore=shutil.ignore_patterns("run"))
    return copy


@contextlib.contextmanager
def _service(data: Path, *options: str) -> Iterator[tuple[Service, httpx.Client]]:
    with running_service(data, *options) as service, service.client() as client:
        yield service, client


def _bundle_of(data: Path, number: int) -> Path:
    wanted = f"export default {number};\n".encode()
    (path,) = [it for it in data.glob("bundles/??/*.js") if it.read_bytes() == wanted]
    return path


@pytest.mark.parametrize("command", ["doctor", "backup"])
def test_what_a_command_finds_damaged_is_not_served_any_more(data: Path, command: str) -> None:
    """A service that has verified a file serves it until its time or size changes."""
    with _service(data) as (_, client):
        assert client.get(URL.format(1)).status_code == 200
        rot(_bundle_of(data, 1))
        target = [data.with_name("copy")] if command == "backup" else []

        assert widget_catalog(command, *target, "--data", data).code == 1

        assert client.get(URL.format(1)).status_code == 503
        assert client.get(URL.format(2)).status_code == 200


def test_a_damaged_bundle_is_refused_set_aside_and_reported(data: Path) -> None:
    path = _bundle_of(data, 1)
    original = path.read_bytes()
    metrics_port = free_port()
    rot(path)
    with _service(data, "--metrics-port", str(metrics_port)) as (service, client):
        assert client.get("/api/health").status_code == 200

        refused = client.get(URL.format(1))

        assert refused.status_code == 503
        assert refused.json() == {"error": "This bundle is missing or damaged on the server."}
        assert client.head(URL.format(1)).status_code == 503
        assert client.get(URL.format(2)).status_code == 200
        assert path.with_name(f"{path.name}.damaged").exists()
        assert client.get("/healthz/ready").status_code == 200
        assert "A stored bundle is damaged. Run doctor." in service.log
        wait_for(lambda: _is_damage_counted(metrics_port))
        said = widget_catalog("doctor", "--data", data)
        assert said.code == 1
        assert "acme/w1 1.0.0: its bundle is missing or cannot be read." in said.err

        path.write_bytes(original)

        assert client.get(URL.format(1)).content == original
        assert widget_catalog("doctor", "--data", data).code == 0


def _is_damage_counted(metrics_port: int) -> bool:
    metrics = httpx.get(f"http://127.0.0.1:{metrics_port}/metrics", timeout=60).text
    return '\nwidget_catalog_damage_found_total{where="bundles"} 1.0\n' in metrics


def test_a_damaged_row_that_doctor_finds_raises_the_alarm(data: Path) -> None:
    with _service(data) as (_, client):
        with contextlib.closing(sqlite3.connect(data / "catalog.db")) as database:
            database.execute("UPDATE widgets SET display_name = 'Wrong' WHERE name = 'w1'")
            database.commit()
        assert client.get("/api/health").status_code == 200

        assert widget_catalog("doctor", "--data", data).code == 1

        health = client.get("/api/health")
        assert health.status_code == 503
        assert health.json()["checks"]["database"] == "damaged"
