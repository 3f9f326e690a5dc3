"""Deliverer: sends webhooks in the background, in one process among all that serve the catalog."""

import ssl
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import structlog

from ..core.db.engine import Store
from ..core.db.leadership import Leadership
from .model import Delivery, Outcome, Webhook
from .scheduling import DeliveryScheduler
from .sending import NameLookups
from .settings import WebhookSettings

_log = structlog.get_logger("widget_catalog.webhooks")

_JOB = "webhooks"
# How often to check the feed and the deliveries that are due.
_LOOK_EVERY_S = 1.0
# The same for a node that is not notified of anything and has nothing to deliver.
_LOOK_UNNOTIFIED_S = 30.0
_PRUNE_EVERY_S = 60.0
_LOGGED_EVERY_S = 60.0
_CLOSE_S = 2.0


class Deliverer:
    def __init__(
        self,
        store: Store,
        lock_file: Path,
        open_secret: Callable[[str], str | None],
        settings: WebhookSettings,
        notifications: Callable[[], int] | None = None,
    ) -> None:
        """`notifications` differs once there may be something new; None: that is not known."""
        self._store = store
        self._settings = settings
        self._lock_file = lock_file
        self._tls: ssl.SSLContext | None = None
        self._lookups = NameLookups()
        self._woken = threading.Event()
        self._is_ended = False
        self._notifications = notifications
        self._seen: int | None = None
        self._logged_at = self._pruned_at = self._looked_at = float("-inf")
        self._scheduler = DeliveryScheduler(store, open_secret, self._send, self._woken.set)
        self.counts = self._scheduler.counts
        self.waiting = 0
        """Deliveries that are not over; 0 in all processes but the one that sends them."""
        self._thread = threading.Thread(target=self._run, name="webhooks", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._is_ended = True
        self._woken.set()
        self._thread.join(_CLOSE_S)

    def _run(self) -> None:
        leadership = Leadership(self._lock_file, self._store.engine, _JOB)
        try:
            while not self._is_ended:
                self._woken.wait(_LOOK_EVERY_S)
                self._woken.clear()
                self._guarded(partial(self._look, leadership))
            self._scheduler.wait(_CLOSE_S / 2)
            self._guarded(self._scheduler.record)
        finally:
            leadership.close()

    def _look(self, leadership: Leadership) -> None:
        if not leadership.is_held():
            self.waiting = 0
            self._seen = None
            return
        seen = None if self._notifications is None else self._notifications()
        is_late = time.monotonic() - self._looked_at >= _LOOK_UNNOTIFIED_S
        if seen is None or seen != self._seen or is_late or self._scheduler.has_work:
            while not self._is_ended and self._scheduler.run_round():
                pass
            self._seen, self._looked_at = seen, time.monotonic()
            self.waiting = self._scheduler.waiting
        if time.monotonic() - self._pruned_at >= _PRUNE_EVERY_S:
            self._pruned_at = time.monotonic()
            self._scheduler.prune()

    def _guarded(self, job: Callable[[], object]) -> None:
        """Failures are retried the next time, and logged now and then."""
        try:
            job()
        except Exception as error:
            if time.monotonic() - self._logged_at >= _LOGGED_EVERY_S and not self._is_ended:
                self._logged_at = time.monotonic()
                sentence = " ".join(str(error).split())
                _log.warning("Webhooks cannot be delivered just now.", error=sentence)

    def _send(
        self, webhook: Webhook, secrets: list[str], deliveries: list[Delivery]
    ) -> list[Outcome]:
        # Imported here: slow to load, and most catalogs have no webhooks.
        from .sending import create_tls_context, send_all

        if self._tls is None:
            self._tls = create_tls_context()
        now_s, networks = self._store.now_ms() // 1000, self._settings.networks
        return send_all(webhook, secrets, deliveries, networks, self._tls, self._lookups, now_s)
