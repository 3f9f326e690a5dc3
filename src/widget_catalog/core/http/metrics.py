"""Prometheus metrics: of requests, of processes and of the node. Workers write them to files; the
parent process serves the sum.

Metrics other than those of requests are collected by a thread once a second, so that they cost
requests nothing.
"""

import contextlib
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import structlog

from .. import release
from ..data_folder import DataFolder, allocate
from ..db.damage import DamageAlarm
from ..db.migrate import SCHEMA
from ..tracing import observe_parts
from .http import Request
from .worker_status import WorkerStatus

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry


_log = structlog.get_logger("widget_catalog.start")
_worker_log = structlog.get_logger("widget_catalog.metrics")

_BUCKETS_S = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10)
_FILE_BYTES = 1 << 19
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "OPTIONS"})
# The library's name for gauges that are summed over living processes.
LIVE_SUM: Final = "livesum"
GAUGES = f"gauge_{LIVE_SUM}"
_EVERY_S = 1.0
_KINDS = ("counter", "histogram", GAUGES)


def prepare_metrics(folder: Path) -> None:
    """Empty the folder the workers write to. Must come before anything imports the library."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)


def serve_metrics(folder: Path, host: str, port: int, readings: Sequence["Reading"]) -> None:
    """Serve `/metrics` from a thread of the parent process, with these of the node."""
    from prometheus_client import CollectorRegistry, start_http_server
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
    from prometheus_client.multiprocess import MultiProcessCollector
    from prometheus_client.registry import Collector

    class Node(Collector):
        def collect(self) -> Iterator[Metric]:
            forget_ended(folder)
            for reading in readings:
                kind = CounterMetricFamily if reading.is_counter else GaugeMetricFamily
                shown = kind(f"widget_catalog_{reading.name}", reading.about, labels=reading.labels)
                for key, value in reading.values().items():
                    shown.add_metric([key] if reading.label else [], value)
                yield shown

    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    registry.register(Node())
    start_http_server(port, addr=host, registry=registry)


def open_metrics(folder: Path) -> "Metrics | None":
    """None, with a log entry, if there is no disk space for them."""
    try:
        return Metrics(folder)
    except OSError as error:
        _log.error("There is no room for metrics; this worker has none.", error=error.strerror)
        return None


class Metrics:
    """One worker's metrics. Raises OSError if there is no disk space for them."""

    def __init__(self, folder: Path) -> None:
        # The library maps these files, and grows them without allocating disk space: on a full
        # disk, the next write would kill the process. Allocated in advance they are used as they
        # are, and are much larger than all routes and statuses need.
        for kind in _KINDS:
            with (folder / f"{kind}_{os.getpid()}.db").open("ab") as file:
                allocate(file.fileno(), _FILE_BYTES)
        # Imported here, because the library reads its folder from the environment on import.
        from prometheus_client import CollectorRegistry, Counter, Histogram

        self.registry = registry = CollectorRegistry()
        self._requests = Counter(
            "widget_catalog_requests",
            "Requests answered.",
            ["route", "method", "status"],
            registry=registry,
        )
        self._seconds = Histogram(
            "widget_catalog_request_seconds",
            "Time to answer, without the network.",
            ["route"],
            buckets=_BUCKETS_S,
            registry=registry,
        )

        self._parts = Histogram(
            "widget_catalog_part_seconds",
            "Time of the parts of requests and other work: locks, statements, the object store.",
            ["part"],
            buckets=_BUCKETS_S,
            registry=registry,
        )
        observe_parts(lambda name, seconds: self._parts.labels(name).observe(seconds))
        self._found: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def observe(self, request: Request, status: int, seconds: float) -> None:
        route = route_of(request.path)
        key = (route, request.method, status)
        found = self._found.get(key)
        if found is None:
            # Looking these up in the library takes as long as updating them all.
            method = request.method if request.method in _METHODS else "other"
            found = self._requests.labels(route, method, status), self._seconds.labels(route)
            if method != "other":
                self._found[key] = found
        found[0].inc()
        found[1].observe(seconds)


def route_of(path: str) -> str:
    """A label with low cardinality: never the path itself."""
    match path.split("/")[1:]:
        case ["api", "v1", "widgets", "search"]:
            return "search"
        case ["api", "v1", "widgets", "changes" | "resolve" | "revocations" as route]:
            return route
        case ["api", "v1", "widgets", _, _]:
            return "detail"
        case ["api", "v1", "widgets", _, _, _]:
            return "version"
        case ["api", "widgets", _, "registry.json"]:
            return "registry"
        case ["api", "widgets", "publish"]:
            return "publish"
        case ["uploads", *_]:
            return "upload"
        case ["api", "health" | "version" | "stats" | "settings"] | ["healthz", *_]:
            return "operational"
        case ["api", "widgets", "cli-version"]:
            return "operational"
        case ["api", *_]:
            return "api-other"
        case ["cdn", *_]:
            return "cdn"
    return "page"


class Reading(NamedTuple):
    """A metric of a worker or of the node; with a `label`, one for each of its values."""

    name: str
    about: str
    read: Callable[[], float | Mapping[str, float]]
    label: str = ""
    is_counter: bool = False
    """Otherwise it is a gauge."""

    @property
    def labels(self) -> list[str]:
        return [self.label] if self.label else []

    def values(self) -> Mapping[str, float]:
        found = self.read()
        return found if isinstance(found, Mapping) else {"": found}


class WorkerMetrics:
    def __init__(self, registry: "CollectorRegistry", readings: Sequence[Reading]) -> None:
        from prometheus_client import Counter, Gauge

        self._metrics: list[tuple[Reading, Any]] = []
        for reading in readings:
            about = (f"widget_catalog_{reading.name}", reading.about, reading.labels)
            if reading.is_counter:
                self._metrics.append((reading, Counter(*about, registry=registry)))
            else:
                gauge = Gauge(*about, registry=registry, multiprocess_mode=LIVE_SUM)
                self._metrics.append((reading, gauge))
        self._before: dict[tuple[str, str], float] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="metrics", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._ended.set()
        self._thread.join(_EVERY_S * 5)

    def _run(self) -> None:
        try:
            while not self._ended.wait(_EVERY_S if self._before else 0):
                self._note()
        except Exception:
            _worker_log.exception("The metrics of this worker are no longer read.")

    def _note(self) -> None:
        for reading, metric in self._metrics:
            for key, value in reading.values().items():
                one = metric.labels(key) if reading.label else metric
                if reading.is_counter:
                    one.inc(value - self._before.get((reading.name, key), 0))
                else:
                    one.set(value)
                self._before[reading.name, key] = value


def forget_ended(folder: Path) -> None:
    """Remove the gauges of workers that have ended; otherwise they would be summed forever."""
    for path in folder.glob(f"{GAUGES}_*.db"):
        pid = path.stem.rpartition("_")[2]
        if pid.isdecimal() and not _is_alive(int(pid)):
            with contextlib.suppress(OSError):
                path.unlink()


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def process_readings() -> list[Reading]:
    return [
        Reading(
            "process_cpu_seconds", "CPU time of the workers.", time.process_time, is_counter=True
        ),
        Reading("process_resident_bytes", "Resident memory of the workers.", _resident_bytes),
        Reading("process_open_files", "Open files and connections of the workers.", _open_files),
    ]


def node_readings(folder: DataFolder, workers: WorkerStatus) -> list[Reading]:
    """Of the whole node; read when they are asked for."""
    damage = DamageAlarm(folder.damage)

    def disk_free() -> float:
        return shutil.disk_usage(folder.path).free

    def is_damaged() -> bool:
        return damage.current() is not None

    missing, died = "Workers that died and are not back.", "Workers that died unexpectedly."
    return [
        Reading("workers_missing", missing, lambda: workers.missing),
        Reading("worker_deaths", died, lambda: workers.deaths, is_counter=True),
        Reading("disk_free_bytes", "Space left on the disk of the data folder.", disk_free),
        Reading("build_info", "1, by release.", lambda: {release.VERSION: 1}, "version"),
        Reading("schema_info", "1, by schema of the release.", lambda: {SCHEMA: 1}, "schema"),
        Reading("damaged", "1 while the database is known to be damaged.", is_damaged),
    ]


def _resident_bytes() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_BYTES


def _open_files() -> float:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208
