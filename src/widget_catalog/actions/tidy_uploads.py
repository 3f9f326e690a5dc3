"""Removes leftovers of unconfirmed requests: at every start, and periodically."""

import threading
import time
from collections.abc import Callable

import structlog

from ..bundles.contract import Bundles, Kind, Uploads
from ..domain.errors import StoreUnavailable
from ..store.engine import Store, Transaction
from ..store.publishing import (
    is_referred_to,
    list_requests,
    remove_expired_requests,
)

_INTERVAL_S = 600
_LOGGED_EVERY_S = 60

_log = structlog.get_logger("widget_catalog.uploads")


def tidy_uploads(store: Store, bundles: Bundles, uploads: Uploads) -> None:
    """Remove leftovers of expired requests, and of killed receivers."""
    uploads.remove_leftovers()
    bundles.remove_leftovers()
    with store.reading() as connection:
        requests = list_requests(connection)
    is_over = any(it.expires_at <= store.now_ms() for it in requests)
    is_tidy = uploads.list_requests() <= {it.id for it in requests}
    if not is_over and is_tidy:
        return
    with store.publishing() as tx:
        for request in remove_expired_requests(tx):
            if request.confirmed_at is None:
                # A confirmation that was killed may have stored its files already.
                _remove_unused(tx, bundles, request.sha256_hash, "js")
                _remove_unused(tx, bundles, request.css_sha256_hash, "css")
        known = {it.id for it in list_requests(tx.connection)}
        for request_id in uploads.list_requests() - known:
            uploads.remove(request_id)


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


def _remove_unused(tx: Transaction, bundles: Bundles, sha256_hash: str | None, kind: Kind) -> None:
    if sha256_hash is not None and not is_referred_to(tx.connection, sha256_hash, kind):
        bundles.remove(sha256_hash, kind)
