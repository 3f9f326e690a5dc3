"""Metrics of a worker other than requests: caches, counts, connections, uploads.

A thread collects them once a second, so that they cost requests nothing.
"""

import contextlib
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import structlog

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

# The library's name for gauges that are summed over living processes.
LIVE_SUM: Final = "livesum"
GAUGES = f"gauge_{LIVE_SUM}"
_EVERY_S = 1.0

_log = structlog.get_logger("widget_catalog.metrics")


class Readings(NamedTuple):
    """`cache_misses`, `counted` and `count_commits` are monotonic counters."""

    cache_misses: dict[str, int]
    """Answers that had to be made, and bundles that had to be fetched, by route."""
    counted: int
    count_commits: int
    counts_waiting: int
    connections_used: int
    connections_idle: int
    uploads: int
    is_bundle_store_down: bool


class WorkerMetrics:
    def __init__(self, registry: "CollectorRegistry", read: Callable[[], Readings]) -> None:
        from prometheus_client import Counter, Gauge

        def counter(name: str, about: str, *labels: str) -> Counter:
            return Counter(f"widget_catalog_{name}", about, labels, registry=registry)

        def gauge(name: str, about: str, *labels: str) -> Gauge:
            full_name = f"widget_catalog_{name}"
            return Gauge(full_name, about, labels, registry=registry, multiprocess_mode=LIVE_SUM)

        self._misses = counter(
            "cache_misses", "Responses and bundles that were in no cache.", "route"
        )
        self._counted = counter("downloads_counted", "Downloads that were counted.")
        self._commits = counter("count_commits", "Commits that they were counted in.")
        self._waiting = gauge("counts_waiting", "Downloads that are not committed yet.")
        self._connections = gauge("database_connections", "Connections to the database.", "state")
        self._uploads = gauge("uploads_in_progress", "Files that are being uploaded.")
        self._store_down = gauge("bundle_store_down", "Workers that the object store fails.")
        self._read = read
        self._before: Readings | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="metrics", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._ended.set()
        self._thread.join(_EVERY_S * 5)

    def _run(self) -> None:
        try:
            while not self._ended.wait(_EVERY_S if self._before else 0):
                self._note(self._read())
        except Exception:
            _log.exception("The metrics of this worker are no longer read.")

    def _note(self, now: Readings) -> None:
        before = self._before
        for route, misses in now.cache_misses.items():
            self._misses.labels(route).inc(misses - (before.cache_misses[route] if before else 0))
        self._counted.inc(now.counted - (before.counted if before else 0))
        self._commits.inc(now.count_commits - (before.count_commits if before else 0))
        self._waiting.set(now.counts_waiting)
        self._connections.labels("used").set(now.connections_used)
        self._connections.labels("idle").set(now.connections_idle)
        self._uploads.set(now.uploads)
        self._store_down.set(now.is_bundle_store_down)
        self._before = now


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
        return True
    return True
