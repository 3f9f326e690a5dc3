"""PeriodicJobs: jobs that a service runs as long as it lives."""

import threading
import time
from collections.abc import Callable
from functools import partial

import structlog

from ..errors import StoreUnavailable

JOBS_EVERY_S = 600
_LOGGED_EVERY_S = 60

_log = structlog.get_logger("widget_catalog.jobs")


class PeriodicJobs:
    """Runs these jobs periodically, in a thread of that name."""

    def __init__(
        self, name: str, *jobs: Callable[[], None], interval_s: float = JOBS_EVERY_S
    ) -> None:
        self._jobs = jobs
        self._interval_s = interval_s
        self._ended = threading.Event()
        self._logged_at = float("-inf")
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def close(self) -> None:
        self._ended.set()

    def _run(self) -> None:
        while not self._ended.wait(self._interval_s):
            for job in self._jobs:
                try:
                    job()
                except StoreUnavailable as error:
                    if self._may_log():
                        _log.warning("A job failed.", job=name_of(job), error=error.message)
                except Exception:
                    if self._may_log():
                        _log.exception("A job failed.", job=name_of(job))

    def _may_log(self) -> bool:
        """Not at every run: some jobs run every few seconds."""
        now = time.monotonic()
        if now - self._logged_at < _LOGGED_EVERY_S:
            return False
        self._logged_at = now
        return True


def name_of(job: Callable[[], None]) -> str:
    """The name of the function that does the work."""
    while isinstance(job, partial):
        job = job.func
    return getattr(job, "__qualname__", type(job).__name__)
