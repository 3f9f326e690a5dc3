"""kill -9 of an import, at any moment, while the service runs: all of its file, or nothing."""

import os
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

from support.children import children_of, kill
from support.folders import filled_folder
from support.service import Service, run_command, running_service
from support.widgets import import_widgets, ndjson, version_line, widget_line
from widget_catalog.catalog.node.node import prepare_node
from widget_catalog.catalog.reading.accepted_import import finish_import
from widget_catalog.catalog.store.staging import find_import
from widget_catalog.core.db.engine import Store
from widget_catalog.transfer.import_catalog import import_catalog

_KILLS_BY_TIME = int(os.environ.get("KILLS", "8"))
_KILLS_BY_LINE = 2
# More than are written in one transaction.
_WIDGETS = 800
_EVERY_NTH_HAS_A_BUNDLE = 40


def _lines(folder: Path, scope: str) -> bytes:
    """Widgets of this scope to import; some have bundles in the folder, unique to the scope."""
    return ndjson(*[_line(folder, scope, i) for i in range(_WIDGETS)])


def _line(folder: Path, scope: str, i: int) -> dict[str, Any]:
    if i % _EVERY_NTH_HAS_A_BUNDLE:
        return widget_line(f"{scope}/w{i}", downloadCount=3)
    name = f"{scope}-{i}.js"
    (folder / name).write_bytes(b"export default '%b';\n" % name.encode() * 2_000)
    stored = {"bundleFile": name, "bundleUrl": None, "bundleSize": None, "sha256Hash": None}
    return widget_line(f"{scope}/w{i}", downloadCount=3, versions=[version_line("1.0.0", **stored)])


def test_an_import_killed_at_any_time_leaves_all_of_its_file_or_nothing(tmp_path: Path) -> None:
    choose = random.Random(3)
    data = filled_folder(tmp_path / "data", widget_line("old/clock"))
    outcomes = Counter[str]()
    with running_service(data) as service, children_of("transfer.importer", data) as importer:
        began = time.monotonic()
        importer.start(_file(tmp_path, "whole"))
        importer.wait()
        duration_s = time.monotonic() - began
        assert _look(service, "whole") == "all"
        for turn in range(_KILLS_BY_TIME):
            scope = f"time{turn}"
            child = importer.start(_file(tmp_path, scope))
            time.sleep(choose.uniform(0.05, 1.1) * duration_s)
            kill(child)
            importer.wait()
            outcome = _look(service, scope)
            outcomes[outcome] += 1
            # Half of the kills should come too late, however busy the machine is.
            duration_s *= 0.7 if outcome == "all" else 1.1
        assert outcomes["nothing"], "no kill fell into an import"
        _assert_import_works(service, tmp_path / "time0.ndjson")
        _has_orphans(service)  # If a kill came after the first bundle.
        assert service.stop() == 0


def test_an_import_killed_after_any_line_leaves_nothing(tmp_path: Path) -> None:
    choose = random.Random(4)
    data = filled_folder(tmp_path / "data", widget_line("old/clock"))
    with running_service(data) as service, children_of("transfer.importer", data) as importer:
        for turn in range(_KILLS_BY_LINE):
            scope = f"line{turn}"
            lines = _lines(tmp_path, scope).splitlines(keepends=True)
            os.mkfifo(tmp_path / scope)
            before = _bundles(data)
            child = importer.start(tmp_path / scope)
            with (tmp_path / scope).open("wb") as pipe:
                # It reads as fast as we write, except for the pipe's buffer.
                pipe.write(b"".join(lines[: choose.randrange(500, _WIDGETS)]))
                pipe.flush()
                _wait_for_a_bundle(data, before)
                time.sleep(choose.uniform(0, 0.05))
                kill(child)
                importer.wait()
            assert _look(service, scope) == "nothing"
        node = prepare_node(data)
        with _file(tmp_path, "line0").open("rb") as again:
            import_catalog(node.store, node.bundles, again, tmp_path, max_bundle_bytes=1 << 21)
        node.store.close()
        assert _look(service, "line0") == "all"
        assert _has_orphans(service)
        assert service.stop() == 0


def test_an_import_killed_right_after_its_commit_is_shown_after_the_next_count(
    tmp_path: Path,
) -> None:
    """Too short a moment to hit by chance: committed, but not applied."""
    data = filled_folder(tmp_path / "data", widget_line("old/clock"))
    with running_service(data) as service, service.client() as client:
        node = prepare_node(data)
        alone = Store(node.store.engine, node.folder.writer_lock)
        import_widgets(node._replace(store=alone), widget_line("new/clock"))
        node.store.close()

        assert client.post("/api/v1/widgets/old/clock").status_code == 200

        assert client.get("/api/v1/widgets/search").json()["total"] == 2
        assert client.get("/api/v1/widgets/new/clock").status_code == 200
        assert client.get("/api/stats").json()["widgets"] == 2


def _bundles(data: Path) -> int:
    return sum(1 for it in (data / "bundles").rglob("*") if it.is_file())


def _wait_for_a_bundle(data: Path, before: int) -> None:
    """Wait for the first bundle of an import: from here on, something can be left behind."""
    deadline = time.monotonic() + 60
    while _bundles(data) == before:
        assert time.monotonic() < deadline
        time.sleep(0.001)


def _file(folder: Path, scope: str) -> Path:
    file = folder / f"{scope}.ndjson"
    file.write_bytes(_lines(folder, scope))
    return file


def _look(service: Service, scope: str) -> str:
    """Whether the service shows the whole scope or nothing, everywhere."""
    _finish_import(service.data)
    with service.client() as client:
        # The writer lock was released with the process: counting continues immediately.
        assert client.post("/api/v1/widgets/old/clock").status_code == 200
        total = client.get("/api/v1/widgets/search", params={"scope": scope}).json()["total"]
        details = [
            client.get(f"/api/v1/widgets/{scope}/w{i}").status_code
            for i in (0, 1, _WIDGETS // 2, _WIDGETS - 1)
        ]
        registry = client.get(f"/api/widgets/{scope}/registry.json")
    if total:
        assert (total, details) == (_WIDGETS, [200] * 4)
        assert len(registry.json()["widgets"]) == _WIDGETS
        return "all"
    assert (details, registry.status_code) == ([404] * 4, 404)
    return "nothing"


def _finish_import(data: Path) -> None:
    """Complete the import, if it was accepted, unless the service already does."""
    node = prepare_node(data)
    deadline = time.monotonic() + 60
    while _is_importing(node.store):
        assert time.monotonic() < deadline
        finish_import(node.store)
        time.sleep(0.01)
    node.store.close()


def _is_importing(store: Store) -> bool:
    with store.reading() as connection:
        return find_import(connection) is not None


def _assert_import_works(service: Service, file: Path) -> None:
    """Import the same file again completely; leftovers do not interfere."""
    imported = run_command("import", str(file), "--data", str(service.data))
    assert imported.returncode == 0, imported.stderr
    assert _look(service, file.stem) == "all"


def _has_orphans(service: Service) -> bool:
    """Whether killed imports have left bundles, which is the worst they leave."""
    for path in (service.data / "bundles").rglob("*"):
        os.utime(path, (0, 0))  # A recent file is not an orphan.
    checked = run_command("doctor", "--data", str(service.data))
    has_orphans = b"Orphan: " in checked.stderr
    assert checked.returncode == has_orphans
    assert b"Error:" not in checked.stderr
    assert b"Repaired" not in checked.stderr
    assert run_command("doctor", "--clean", "--data", str(service.data)).returncode == 0
    assert run_command("doctor", "--data", str(service.data)).returncode == 0
    return has_orphans
