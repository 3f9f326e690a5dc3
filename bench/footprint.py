"""Footprint of a catalog: a worker's memory, and the time to start, import and export."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

from widget_catalog.core.data_folder import DataFolder

from .client import Connection, request
from .folders import ensure_folder
from .load import run_wrk, write_requests
from .machine import cpu_seconds_of, memory_of
from .measures import BenchError, Limit, Outcome
from .rig import Rig
from .servers import (
    Server,
    catalog_command,
    clean_environment,
    running_catalog,
    starting_catalog,
)
from .traffic import (
    ACCEPTS_COMPRESSED,
    SDKS,
    detail_targets,
    everyday_searches,
    registry_target,
    search_target,
    terms_by_kind,
)

_STARTS = 3
_FIRST_QUESTION = request(search_target("clock"))
_DETAILS = 100_000
# Workers unmap the replica's pages every ten seconds.
_RELEASED_AFTER_S = 15


def memory(rig: Rig, size: int, wanted: Limit | None = None) -> list[Outcome]:
    """Some seconds after traffic that has filled every cache: details, searches, registries,
    compatSdk."""
    with running_catalog(rig, ensure_folder(size)) as catalog:
        (worker,) = catalog.worker_pids()
        fresh = memory_of(worker)
        _fill_caches(rig, catalog, size)
        busy = memory_of(worker)
        time.sleep(_RELEASED_AFTER_S)
        used = memory_of(worker)
        parent = memory_of(catalog.process.pid)
    notes = [
        f"{fresh.rss:,.0f} MB before the traffic, {busy.rss:,.0f} MB just after it",
        f"{used.shared:,.0f} MB of the {used.rss:,.0f} are shared with other processes",
        f"the parent process takes {parent.rss:,.0f} MB",
    ]
    figures = {"fresh_mb": fresh.rss, "shared_mb": used.shared, "parent_mb": parent.rss}
    what = f"memory a worker, {size:,} widgets, after traffic"
    return [Outcome(what, used.rss, "MB", wanted, notes, figures)]


def memory_of_all(rig: Rig, size: int, workers: int) -> list[Outcome]:
    """What the workers take together some seconds after the same traffic; what they share counts
    once."""
    with running_catalog(rig, ensure_folder(size), workers) as catalog:
        pids = catalog.worker_pids()
        fresh = sum(memory_of(pid).pss for pid in pids)
        for _ in range(workers):  # A new connection probably reaches another worker.
            _fill_caches(rig, catalog, size)
        busy = sum(memory_of(pid).pss for pid in pids)
        time.sleep(_RELEASED_AFTER_S)
        used = [memory_of(pid) for pid in pids]
    together, own = sum(it.pss for it in used), sum(it.own for it in used)
    notes = [
        f"{fresh:,.0f} MB before the traffic, {busy:,.0f} MB just after it",
        f"{own:,.0f} MB are the workers' own; the rest is files that they map",
    ]
    what = f"memory of {workers} workers together, {size:,} widgets, after traffic"
    figures = {"fresh_mb": fresh, "busy_mb": busy, "own_mb": own}
    return [Outcome(what, together, "MB", None, notes, figures)]


def _fill_caches(rig: Rig, catalog: Server, size: int) -> None:
    details = [request(target) for target in detail_targets(size, _DETAILS)]
    file = write_requests(rig.folder / "requests-memory", details)
    run_wrk(rig, catalog, file, 2 * rig.options.seconds)
    with Connection(catalog.port) as client:
        for raw in _varied_requests(size):
            client.ask(raw)


def _varied_requests(size: int) -> list[bytes]:
    terms = [term for some in terms_by_kind(size, 300).values() for term in some]
    searches = [search_target(term) for term in terms]
    compat = [search_target(q, page, SDKS[0]) for q, page in everyday_searches()]
    registries = [registry_target(number) for number in range(0, min(size, 20_000), 100)]
    return [
        *map(request, searches + compat),
        *(request(target, ACCEPTS_COMPRESSED) for target in registries),
    ]


def start(rig: Rig, size: int, wanted: Limit | None = None) -> list[Outcome]:
    """From the command to the first search answered; the files are in the page cache.

    An import leaves the search index in its file, and so does a restore.
    """
    folder = ensure_folder(size)
    backup, restored = rig.folder / "backup", rig.folder / "restored"
    DataFolder(folder).search_index.unlink(missing_ok=True)
    first = _start(rig, folder)
    later = [_start(rig, folder) for _ in range(_STARTS)]
    _run("backup", str(backup), "--data", str(folder))
    _run("restore", str(backup), "--data", str(restored))
    from_backup = _start(rig, restored)
    for made in (backup, restored):
        shutil.rmtree(made)
    core_s = median(it.core_s for it in later)
    notes = [
        f"{_STARTS} starts, parent and worker on one core: "
        + ", ".join(f"{it.seconds:.2f} s" for it in later),
        f"of it on the core {core_s:.2f} s",
    ]
    what = f"start to first answer, {size:,} widgets"
    value = median(it.seconds for it in later)
    built = f"of it on the core {first.core_s:.2f} s"
    return [
        Outcome(what, value, "s", wanted, notes, {"core_s": core_s}),
        Outcome(f"{what}, the index to be built", first.seconds, "s", None, [built]),
        Outcome(
            f"{what}, from a backup",
            from_backup.seconds,
            "s",
            None,
            [f"of it on the core {from_backup.core_s:.2f} s"],
        ),
    ]


class _Started(NamedTuple):
    seconds: float
    core_s: float


def _start(rig: Rig, folder: Path) -> _Started:
    began = time.monotonic()
    with starting_catalog(rig, folder) as catalog:
        reply = catalog.wait_for(_FIRST_QUESTION)
        took = _Started(time.monotonic() - began, cpu_seconds_of(catalog.pids()))
    if reply.status != 200:
        raise BenchError(f"The first answer has status {reply.status}.")
    return took


def import_export(rig: Rig, size: int, wanted: Limit | None = None) -> list[Outcome]:
    """Export to a file, then import that file into an empty folder, by the real commands."""
    file, data = rig.folder / "export.ndjson", rig.folder / "imported"
    exported = _run("export", str(file), "--data", str(ensure_folder(size)))
    file_mb = file.stat().st_size / 2**20
    imported = _run("import", str(file), "--data", str(data))
    stats = json.loads(_output("stats", "--data", str(data)))
    data_mb = sum(it.stat().st_size for it in data.glob("catalog.db*")) / 2**20
    file.unlink()
    shutil.rmtree(data)
    if stats["widgets"] != size:
        raise BenchError(f"{stats['widgets']:,} of {size:,} widgets came through.")
    of = f"{size:,} widgets with {stats['versions']:,} versions"
    became = f"a file of {file_mb:,.0f} MB became {data_mb:,.0f} MB"
    return [
        Outcome(
            f"import, {of}, CPU a widget, of all processes",
            imported.core_s / size * 1e6,
            "µs",
            wanted,
            [f"{size / imported.seconds:,.0f} widgets a second", str(imported), became],
            {**imported._asdict(), "versions": stats["versions"]},
        ),
        Outcome(f"export, {of}", size / exported.seconds, "/s", None, [str(exported)]),
    ]


class _Ran(NamedTuple):
    """The resources used by a command, including its start."""

    seconds: float
    core_s: float
    peak_mb: float

    def __str__(self) -> str:
        return (
            f"{self.seconds:.1f} s, of it on a core {self.core_s:.1f} s; "
            f"at most {self.peak_mb:,.0f} MB of memory"
        )


def _run(*arguments: str) -> _Ran:
    began = time.monotonic()
    with subprocess.Popen(
        catalog_command(*arguments), stderr=subprocess.PIPE, env=clean_environment()
    ) as process:
        assert process.stderr is not None
        said = process.stderr.read().decode().strip()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise BenchError(f"widget-catalog {arguments[0]} failed: {said}")
    return _Ran(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def _output(*arguments: str) -> bytes:
    command = catalog_command(*arguments)
    return subprocess.run(command, capture_output=True, check=True, env=clean_environment()).stdout
