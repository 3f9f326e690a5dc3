"""A full disk, and a folder that has become read-only: reads continue, nothing breaks."""

import errno
import json
import resource
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from support.author import Author, add_account, token_of
from support.disks import Disk, DiskKind, LimitedDisk, possible_disks, possible_full_disks
from support.folders import filled_folder
from support.permissions import read_only, without_root_powers
from support.service import run_command, running_service
from support.widgets import ndjson, version_line, widget_line
from support.wire import WireConnection, WireResponse, connections_to_every_worker
from widget_catalog.catalog.node.node import prepare_node

_SCRIPT = b"export default 1;\n" * 100
_CLOCK = "/api/v1/widgets/acme/clock"
_READS = {
    _CLOCK: 200,
    "/api/v1/widgets/acme/w9": 200,
    "/api/v1/widgets/search?q=clock": 200,
    "/api/v1/widgets/search?q=w1&compatSdk=1.0.0&limit=100": 200,
    "/api/widgets/acme/registry.json": 200,
    "/cdn/@acme/clock/1.0.0/index.js": 200,
    "/api/stats": 200,
    "/api/health": 200,
    "/": 200,
    "/api/v1/widgets/acme/nothing": 404,
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("filled")
    (folder / "clock.js").write_bytes(_SCRIPT)
    stored = {"bundleFile": "clock.js", "bundleUrl": None, "bundleSize": None, "sha256Hash": None}
    clock = widget_line("acme/clock", versions=[version_line("1.0.0", **stored)])
    others = [widget_line(f"acme/w{i}") for i in range(100)]
    filled_folder(folder / "data", clock, *others, base_folder=folder)
    # Only what a backup contains; the service rebuilds the rest.
    for path in (folder / "data" / "run").iterdir():
        path.unlink()
    return folder / "data"


@pytest.fixture(params=possible_disks(), ids=lambda kind: kind.__name__)
def disk(request: pytest.FixtureRequest, tmp_path: Path, filled: Path) -> Iterator[Disk]:
    kind: DiskKind = request.param
    with kind(tmp_path, filled) as made:
        yield made


def test_on_a_full_disk_reading_goes_on_and_counting_comes_back_by_itself(
    disk: Disk, tmp_path: Path
) -> None:
    service = disk.service
    with connections_to_every_worker(service) as found:
        every = [held[0] for held in found.values()]
        pids = service.worker_pids()
        acknowledged = 0
        for _ in range(3):
            for connection in every:
                assert connection.ask("POST", _CLOCK).status == 200
                acknowledged += 1
            disk.fill()
            for connection in every:
                for _ in range(3):
                    _assert_refused(connection.ask("POST", _CLOCK))
                _assert_reads_go_on(connection)
                assert _downloads(connection.ask("GET", _CLOCK)) == acknowledged
            disk.make_room()
        for connection in every:
            assert connection.ask("POST", _CLOCK).status == 200
            acknowledged += 1
            assert _downloads(connection.ask("GET", _CLOCK)) == acknowledged
    assert service.worker_pids() == pids, "A worker has died."
    assert "Traceback" not in service.log
    # Logged once per worker each time, however many requests were rejected. If nothing at all can
    # be written, there is no log either.
    told = 0 if isinstance(disk, LimitedDisk) else 3 * len(every)
    assert service.log.count("Downloads cannot be counted just now.") == told
    assert service.log.count("Downloads are counted again.") == 3 * len(every)
    disk.copy_folder(tmp_path / "copy")
    _assert_sound(tmp_path / "copy", acknowledged)


def test_it_may_be_stopped_and_started_after_its_disk_was_full(disk: Disk, tmp_path: Path) -> None:
    with disk.service.client() as client:
        assert client.post(_CLOCK).status_code == 200
        disk.fill()
        assert client.post(_CLOCK).status_code == 503
        disk.copy_folder(tmp_path / "copy")
    assert disk.service.stop() == 0
    _assert_sound(tmp_path / "copy", 1)
    with running_service(tmp_path / "copy") as service, service.client() as client:
        assert client.post(_CLOCK).status_code == 200
        assert client.get(_CLOCK).json()["widget"]["downloadCount"] == 2


@pytest.mark.parametrize("full", possible_full_disks(), ids=lambda kind: kind.__name__)
def test_on_a_disk_that_is_full_it_starts_and_what_is_there_can_be_read(
    tmp_path: Path, filled: Path, full: DiskKind
) -> None:
    with (
        full(tmp_path, filled) as disk,
        connections_to_every_worker(disk.service) as found,
    ):
        every = [held[0] for held in found.values()]
        for connection in every:
            _assert_reads_go_on(connection)
            _assert_refused(connection.ask("POST", _CLOCK))
        assert "Warning: The catalog's database cannot be used just now" in disk.service.log
        disk.make_room()
        for connection in every:
            assert connection.ask("POST", _CLOCK).status == 200


def test_in_a_folder_that_became_read_only_reading_goes_on_and_counting_comes_back(
    tmp_path: Path, filled: Path
) -> None:
    data = tmp_path / "data"
    shutil.copytree(filled, data)
    with running_service(data, before=without_root_powers) as service:
        with WireConnection(service.port) as connection:
            assert connection.ask("POST", _CLOCK).status == 200
            with read_only(data):
                _assert_refused(connection.ask("POST", _CLOCK))
                _assert_reads_go_on(connection)
            assert connection.ask("POST", _CLOCK).status == 200
            assert _downloads(connection.ask("GET", _CLOCK)) == 2
        assert service.stop() == 0
    _assert_sound(data, 2)


def test_a_publish_that_the_disk_refuses_is_503_and_logged_with_its_cause(
    tmp_path: Path, filled: Path
) -> None:
    data = tmp_path / "data"
    shutil.copytree(filled, data)
    node = prepare_node(data)
    add_account(node, "ann")
    node.store.close()
    with running_service(data, before=without_root_powers) as service:
        with Author(service.url, token_of(service, "ann")) as author:
            with read_only(data / "bundles"):
                refused = author.publish("ann/clock", "1.0.0")
            assert refused.status_code == 503
            assert list(refused.json()) == ["error"]
            assert int(refused.headers["retry-after"]) > 0
            assert author.publish("ann/clock", "1.0.1").status_code == 200
        [line] = [it for it in service.log.splitlines() if "the disk, the database" in it]
        assert "[error" in line
        assert f"errno={errno.EACCES}" in line
        assert f"file={data / 'bundles'}" in line
        assert "path=/api/widgets/publish" in line
        assert "Traceback" not in service.log


def test_health_names_bundles_that_are_gone_and_all_else_goes_on(
    tmp_path: Path, filled: Path
) -> None:
    data = tmp_path / "data"
    shutil.copytree(filled, data)
    bundle = "/cdn/@acme/clock/1.0.0/index.js"
    with running_service(data) as service, service.client() as client:
        assert client.get(bundle).content == _SCRIPT
        (data / "bundles").rename(data / "elsewhere")

        health = client.get("/api/health")

        assert health.status_code == 503
        told = health.json()
        assert told.pop("error") == "The folder of the bundles cannot be read."
        assert told == {
            "status": "unavailable",
            "checks": {"database": "ok", "bundles": "failing"},
        }
        missing = client.get(bundle)
        assert (missing.status_code, list(missing.json())) == (503, ["error"])
        assert client.get(_CLOCK).status_code == client.post(_CLOCK).status_code == 200
        (data / "elsewhere").rename(data / "bundles")
        assert client.get("/api/health").json()["status"] == "ok"
        assert client.get(bundle).content == _SCRIPT


def test_an_import_that_the_disk_has_no_room_for_is_one_sentence_and_leaves_nothing(
    tmp_path: Path, filled: Path
) -> None:
    data = tmp_path / "data"
    shutil.copytree(filled, data)
    # The files it needs exist; the disk became full afterwards.
    assert run_command("stats", "--data", str(data)).returncode == 0
    (tmp_path / "big.js").write_bytes(b"1" * 90_000)
    big = version_line(
        "1.0.0", bundleFile="big.js", bundleUrl=None, bundleSize=None, sha256Hash=None
    )
    lines = [widget_line(f"new/w{i}", description="x" * 500) for i in range(800)]
    file = tmp_path / "new.ndjson"
    file.write_bytes(ndjson(widget_line("new/big", versions=[big]), *lines))
    # From no space at all, not even for the bundle, to running out only when the database is
    # written.
    for room in (0, 64 << 10, 300 << 10, 800 << 10):
        imported = run_command(
            "import", str(file), "--data", str(data), before=partial(_limit_files, room)
        )

        assert imported.returncode == 1, imported
        assert imported.stderr.count(b"\n") == 1, imported.stderr
        assert imported.stderr.startswith(b"Error: ")
        assert len([it for it in (data / "bundles").rglob("*") if it.is_file()]) == 1
    _assert_sound(data, 0)
    again = run_command("import", str(file), "--data", str(data))
    assert again.returncode == 0, again.stderr


def _limit_files(most_bytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))


def _assert_reads_go_on(connection: WireConnection) -> None:
    for address, status in _READS.items():
        assert connection.ask("GET", address).status == status, address
    assert connection.ask("GET", "/cdn/@acme/clock/1.0.0/index.js").body == _SCRIPT


def _assert_refused(response: WireResponse) -> None:
    assert response.status == 503
    told = json.loads(response.body)
    assert list(told) == ["error"]
    assert told["error"].endswith("Try again later.")
    assert response.headers["content-type"] == "application/json; charset=utf-8"
    assert response.headers["access-control-allow-origin"] == "*"
    assert int(response.headers["retry-after"]) > 0


def _downloads(response: WireResponse) -> int:
    return int(json.loads(response.body)["widget"]["downloadCount"])


def _assert_sound(data: Path, downloads: int) -> None:
    checked = run_command("doctor", "--data", str(data))
    assert checked.returncode == 0, checked.stderr
    stats = json.loads(run_command("stats", "--data", str(data)).stdout)
    assert (stats["widgets"], stats["downloads"]) == (101, downloads)
