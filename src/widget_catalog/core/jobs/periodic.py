"""PeriodicJobs: jobs that a service runs as long as it lives."""

import threading
import time
from collections.abc import Callable

import structlog

from ..errors import StoreUnavailable

_INTERVAL_S = 600
_LOGGED_EVERY_S = 60

_log = structlog.get_logger("widget_catalog.uploads")


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
                try:
                    job()
                except StoreUnavailable as error:
                    if self._may_log():
                        _log.warning("Tidying up failed.", error=error.message)
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
