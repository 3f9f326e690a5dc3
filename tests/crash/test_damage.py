"""Damage to the database under a running service: no wrong response, an alarm, and recovery."""

import contextlib
import json
import random
import re
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from catalog.replica.replica_content import flip_bits, overwrite_pages, replica_of
from support.commands import widget_catalog
from support.folders import filled_folder
from support.service import Service, free_port, running_service, wait_for
from support.widgets import version_line, widget_line
from support.wire import WireConnection, WireResponse

_PAGE_BYTES = 4096
_WIDGETS = 300
_REBUILT = "What is stored here is damaged, and is rebuilt just now. Try again soon."


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    notes = "Notes. " * 40
    lines = [
        widget_line(
            f"s{i % 7}/w{i}",
            versions=[version_line(f"1.{n}.0", releaseNotes=notes) for n in range(1 + i % 3)],
        )
        for i in range(_WIDGETS - 1)
    ]
    # Large enough to be read in chunks.
    many = [version_line(f"1.{n}.0", releaseNotes=notes * 10) for n in range(60)]
    return filled_folder(
        tmp_path_factory.mktemp("healthy") / "data", *lines, widget_line("s0/large", versions=many)
    )


@pytest.fixture
def data(healthy: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "data"
    shutil.copytree(healthy, copy, ignore=shutil.ignore_patterns("run"))
    with contextlib.closing(sqlite3.connect(copy / "catalog.db")) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return copy


def _addresses() -> Iterator[str]:
    for i in range(_WIDGETS - 1):
        yield f"/api/v1/widgets/s{i % 7}/w{i}"
    yield "/api/v1/widgets/s0/large"
    for i in range(7):
        yield f"/api/widgets/s{i}/registry.json"
        yield f"/api/v1/widgets/search?scope=s{i}&limit=100"
        yield f"/api/v1/widgets/search?scope=s{i}&limit=100&compatSdk=1.0.0"
    for since in range(0, _WIDGETS, 50):
        yield f"/api/v1/widgets/changes?since={since}&limit=50"


def _responses(client: httpx.Client) -> dict[str, WireResponse]:
    """Without the client, which takes longer than the service: there are thousands."""
    with WireConnection(client.base_url.port or 0) as connection:
        return {address: connection.ask("GET", address) for address in _addresses()}


def _assert_sound_or_refused(responses: dict[str, WireResponse], before: dict[str, bytes]) -> int:
    """Every response is unchanged, or a 503 in our format; returns how many were rejected."""
    refused = 0
    for address, response in responses.items():
        if response.status == 503:
            refused += 1
            assert json.loads(response.body) == {"error": _REBUILT}, address
            assert int(response.headers["retry-after"]) > 0
        else:
            assert (response.status, response.body) == (200, before[address]), address
    return refused


@contextlib.contextmanager
def _service(data: Path, *options: str) -> Iterator[tuple[Service, httpx.Client]]:
    # The URL is in registries, and must be the same at every start.
    base = ("--base-url", "https://catalog.example", *options)
    with running_service(data, *base) as service, service.client() as client:
        yield service, client


@pytest.fixture(scope="module")
def before(healthy: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The responses without damage."""
    copy = tmp_path_factory.mktemp("before") / "data"
    shutil.copytree(healthy, copy, ignore=shutil.ignore_patterns("run"))
    with _service(copy) as (_, client):
        responses = _responses(client)
    assert {it.status for it in responses.values()} == {200}
    return {address: it.body for address, it in responses.items()}


@pytest.mark.parametrize("kind", ["bits", "pages"])
def test_a_damaged_replica_gives_no_wrong_response_and_heals_itself(
    data: Path, before: dict[str, bytes], kind: str
) -> None:
    metrics_port = free_port()
    with _service(data, "--metrics-port", str(metrics_port)) as (service, client):
        if kind == "bits":
            flip_bits(data, 400, seed=4)
        else:
            overwrite_pages(data, 12, seed=2)

        assert _assert_sound_or_refused(_responses(client), before) > 0

        wait_for(lambda: _assert_sound_or_refused(_responses(client), before) == 0, 30)
        assert client.get("/api/health").status_code == 200
        assert client.get("/healthz/ready").text == "ok\n"
        assert service.log.count("The read model is damaged, and is rebuilt.") == 1
        assert "Traceback" not in service.log
        # A second later the metrics of the worker are collected.
        wait_for(lambda: _is_damage_counted(metrics_port))
    assert widget_catalog("doctor", "--data", data).code == 0


def _is_damage_counted(metrics_port: int) -> bool:
    metrics = httpx.get(f"http://127.0.0.1:{metrics_port}/metrics", timeout=60).text
    assert "\nwidget_catalog_damaged 0.0\n" in metrics
    found = re.search(r'\nwidget_catalog_damage_found_total{where="replica"} (\S+)', metrics)
    return found is not None and float(found[1]) > 0


def test_a_replica_that_is_deleted_is_rebuilt_and_health_stays(
    data: Path, before: dict[str, bytes]
) -> None:
    with _service(data) as (_, client):
        shutil.rmtree(data / "replica")
        assert client.get("/api/health").status_code == 200
        wait_for(lambda: (data / "replica" / "current").exists(), 30)
        assert _assert_sound_or_refused(_responses(client), before) == 0
        assert client.get("/api/health").status_code == 200
    assert widget_catalog("doctor", "--data", data).code == 0


@pytest.mark.parametrize(
    "kind", ["bits", "pages", "first", "truncated", "zeroed", "noise", "empty", "gone", "folder"]
)
def test_a_start_on_a_damaged_replica_rebuilds_it(
    data: Path, before: dict[str, bytes], kind: str
) -> None:
    """Never a wrong response, and no worker crashes repeatedly."""
    replica = replica_of(data)
    content = replica.read_bytes()
    match kind:
        case "bits":
            flip_bits(data, 400, seed=3)
        case "pages":
            overwrite_pages(data, 40, seed=3)
        case "first":
            replica.write_bytes(b"\xa5" * 8192 + content[8192:])
        case "truncated":
            replica.write_bytes(content[: len(content) // 3])
        case "zeroed":
            replica.write_bytes(content[:8192] + bytes(len(content) - 8192))
        case "noise":
            noise = random.Random(3).randbytes(len(content) - 8192)
            replica.write_bytes(content[:8192] + noise)
        case "empty":
            replica.write_bytes(b"")
        case "gone":
            replica.unlink()
        case "folder":
            shutil.rmtree(data / "replica")

    with _service(data) as (service, client):
        assert _assert_sound_or_refused(_responses(client), before) == 0 or kind == "bits"
        assert "A worker died" not in service.log
        assert ("Repaired: the " in service.log) == (kind not in ("gone", "folder"))
        widget_catalog("doctor", "--data", data)
        assert _assert_sound_or_refused(_responses(client), before) == 0
    assert widget_catalog("doctor", "--data", data).code == 0


def test_a_replica_that_ends_a_worker_is_rebuilt(data: Path, before: dict[str, bytes]) -> None:
    """Truncating a mapped file crashes the process."""
    with _service(data, "--workers", "2") as (service, client):
        replica = replica_of(data)
        with replica.open("r+b") as file:
            file.truncate(8192)
        with contextlib.suppress(httpx.TransportError):
            for address in _addresses():
                client.get(address)
        wait_for(lambda: replica_of(data) != replica)
        wait_for(lambda: _is_answered(client, before))
        assert "The read model is damaged, and is rebuilt." in service.log
        assert "Traceback" not in service.log


def _is_answered(client: httpx.Client, before: dict[str, bytes]) -> bool:
    try:
        return _assert_sound_or_refused(_responses(client), before) == 0
    except (OSError, EOFError):
        return False


def test_nothing_is_made_from_damaged_rows_of_the_truth(
    data: Path, before: dict[str, bytes]
) -> None:
    with contextlib.closing(sqlite3.connect(data / "catalog.db")) as database:
        database.execute("UPDATE widgets SET display_name = 'Wrong' WHERE name = 'w5'")
        database.execute("UPDATE versions SET release_notes = 'Wrong' WHERE widget_id = 7")
        # Not valid UTF-8, so that the driver cannot even read it.
        database.execute("UPDATE widgets SET icon = CAST(x'FF41' AS TEXT) WHERE name = 'w9'")
        database.commit()

    with _service(data) as (_, client):
        said = widget_catalog("doctor", "--data", data)

        assert said.code == 1
        assert said.err.count("Error: The database is damaged: what it holds of ") >= 3
        assert "the widget s5/w5 (number 6) is not what was written." in said.err
        assert "the widget s2/w9 (number 10) is not what was written." in said.err
        assert "Repaired" not in said.err
        assert said.err.endswith(
            "Error: The database is damaged. Restore it from a backup. The damaged "
            "rows were not used.\n"
        )
        # The documents are intact, and stay.
        assert _assert_sound_or_refused(_responses(client), before) == 0
    exported = widget_catalog("export", "-", "--data", data)
    assert exported.code == 1
    assert "database is damaged" in exported.err


@pytest.mark.parametrize("kind", ["header", "schema", "middle", "truncated", "empty", "log"])
def test_a_start_on_a_damaged_database_works_or_is_one_sentence(data: Path, kind: str) -> None:
    database = data / "catalog.db"
    content = bytearray(database.read_bytes())
    match kind:
        case "header":
            content[0:100] = b"\xa5" * 100
        case "schema":
            content[110:4000] = b"\xa5" * 3890
        case "middle":
            middle = len(content) // 2 // _PAGE_BYTES * _PAGE_BYTES
            content[middle : middle + 40_960] = b"\xa5" * 40_960
        case "truncated":
            del content[len(content) // 3 :]
        case "empty":
            content.clear()
        case "log":
            Path(f"{database}-wal").write_bytes(b"\xa5" * 40_000)
    database.write_bytes(content)

    said = _start(data)

    assert "Traceback" not in said, said
    if kind in ("header", "schema", "truncated"):
        assert said.startswith("Error: ")
        assert said.count("\n") == 1
        assert "Run doctor" in said
        assert widget_catalog("doctor", "--data", data).err.endswith(
            "Error: The database is damaged. Restore it from a backup.\n"
        )


def _start(data: Path) -> str:
    """The output of the service, until it responds or ends."""
    try:
        service = Service(data)
    except RuntimeError as ended:
        return str(ended).partition("It said:\n")[2]
    service.kill()
    return service.log
