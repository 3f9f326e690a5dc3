"""Removes leftovers of unconfirmed requests: at every start, and periodically."""

import threading
import time
from collections.abc import Callable

import structlog

from ..catalog.remove_unused import remove_unused
from ..catalog.store.file_removals import list_marked
from ..core.db.engine import Store
from ..core.errors import StoreUnavailable
from ..core.files.contract import Bundles, Uploads
from ..core.files.parallel import map_parallel
from .store import list_ended, list_request_ids, remove_requests

_BATCH = 100
_INTERVAL_S = 600
_LOGGED_EVERY_S = 60

_log = structlog.get_logger("widget_catalog.uploads")


def tidy_uploads(store: Store, bundles: Bundles, uploads: Uploads) -> None:
    """Remove leftovers of ended requests, and of killed receivers. Nobody waits while files are
    removed.
    """
    uploads.remove_leftovers()
    bundles.remove_leftovers()
    while _remove_ended(store, bundles):
        pass
    with store.reading() as connection:
        abandoned = list_marked(connection) - list_marked(connection, after_ms=store.now_ms())
    remove_unused(store, bundles, abandoned)
    _remove_uploads(store, uploads)


def _remove_ended(store: Store, bundles: Bundles) -> bool:
    """Remove a batch of ended requests; returns whether there was any."""
    with store.reading() as connection:
        ended = list_ended(connection, store.now_ms(), _BATCH)
    if not ended.ids:
        return False
    # Nearly always there is none: only a confirmation that was killed leaves its files.
    found = map_parallel(lambda it: bundles.stat(*it) and it, sorted(ended.files))
    remove_unused(store, bundles, [it for it in found if it is not None])
    with store.writing() as tx:
        remove_requests(tx, ended.ids)
    return True


def _remove_uploads(store: Store, uploads: Uploads) -> None:
    """Remove those without a request. They are listed first: an upload comes after its request."""
    found = uploads.list_requests()
    if not found:
        return
    with store.reading() as connection:
        known = list_request_ids(connection)
    for _ in map_parallel(uploads.remove, sorted(found - known)):
        pass


class PeriodicJobs:
    """Runs these jobs periodically, in its own thread."""

    def __init__(self, *jobs: Callable[[], None], interval_s: float = _INTERVAL_S) -> None:
        self._jobs = jobs
        self._interval_s = interval_s
        self._ended = threading.Event()
        self._logged_at = float("-inf")
        threading.Thread(target=self._run, name="tidier", daemon=True).start()

    def close(self) -> None:
        self._ended.set()

    def _run(self) -> None:
        while not self._ended.wait(self._interval_s):
            for job in self._jobs:
                self._run_job(job)

    def _run_job(self, job: Callable[[], None]) -> None:
        try:
            job()
        except StoreUnavailable as fault:
            if self._may_log():
                _log.warning("Tidying up failed.", fault=fault.message)
        except Exception:
            if self._may_log():
                _log.exception("Tidying up failed.")

    def _may_log(self) -> bool:
        """Not at every run: some jobs run every few seconds."""
        now = time.monotonic()
        if now - self._logged_at < _LOGGED_EVERY_S:
            return False
        self._logged_at = now
        return True
