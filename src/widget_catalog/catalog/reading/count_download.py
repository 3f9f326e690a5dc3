"""Counts downloads with group commit: nothing acknowledged is lost, a thousand cost one commit.

Increments accumulate while a commit is in progress or another process writes; the next commit
takes them all. There is no timer: a single increment is committed at once. The committing thread
waits for other writers without a timeout; a request waits for some seconds and then fails. Its
increment is withdrawn, so that a client that retries is counted once. Only if the commit has
already started may a failed increment still count.
"""

import asyncio
import threading
from collections import Counter
from typing import NamedTuple

import structlog

from ...core.db.engine import Store
from ...core.errors import StoreUnavailable
from ..store.downloads import add_downloads
from ..store.installs import WRITE_EVERY_S, DayCounts

_TIMEOUT_S = 5.0
# Used after a timeout, until a commit succeeds or fails.
_SHORT_TIMEOUT_S = 1.0

_BUSY = "The catalog is busy with a long write. Try again soon."

_log = structlog.get_logger("widget_catalog.downloads")


class _Batch(NamedTuple):
    """Increments that are committed together, and the future that their callers await."""

    increments: Counter[int]
    committed: "asyncio.Future[None]"


class DownloadCounter:
    """One per worker. `count` runs on the event loop, commits in a thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pending: _Batch | None = None
        self._lock = threading.Lock()
        self._wakes = threading.Semaphore(0)
        self._is_closing = False
        self._is_failing = False
        self._is_stuck = False
        self._days = DayCounts()
        self._committing = 0
        # For metrics: total since this worker started.
        self.counted = 0
        self.commits = 0
        self._thread = threading.Thread(target=self._commit_forever, name="download-counter")
        self._thread.daemon = True
        self._thread.start()

    async def count(self, widget_id: int) -> None:
        """Return once the increment is committed, or raise StoreUnavailable."""
        with self._lock:
            batch = self._pending
            if batch is None:
                batch = self._pending = self._new_batch()
                self._wakes.release()
            batch.increments[widget_id] += 1
            committed = batch.committed
        # Shielded, because a client that disconnects must not cancel the commit others wait for.
        await asyncio.shield(committed)

    @property
    def waiting(self) -> int:
        """Increments that are not committed yet."""
        with self._lock:
            pending = 0 if self._pending is None else self._pending.increments.total()
        return pending + self._committing

    def close(self) -> None:
        """Commit pending counts, then stop."""
        self._is_closing = True
        self._wakes.release()
        self._thread.join()

    def _commit_forever(self) -> None:
        while True:
            is_woken = self._wakes.acquire(timeout=WRITE_EVERY_S if self._days.has_any else None)
            if self._pending is not None:
                self._commit()
                continue
            if self._is_closing or not is_woken:
                self._write_days()
            if self._is_closing:
                return

    def _take(self) -> _Batch | None:
        """Take the pending batch. It can no longer be withdrawn."""
        with self._lock:
            batch, self._pending = self._pending, None
            self._committing = 0 if batch is None else batch.increments.total()
        return batch

    def _commit(self) -> None:
        problem: BaseException | None = None
        batch: _Batch | None = None
        is_due = self._days.is_due
        try:
            with self._store.counting(is_one_statement=not is_due) as tx:
                # Only under the lock: a batch that still waits for it can be withdrawn.
                batch = self._take()
                if batch is not None:
                    add_downloads(tx, batch.increments)
                if is_due:
                    self._days.write(tx)
            if is_due:
                self._days.forget()
            if batch is not None:
                self._days.add(batch.increments, self._store.now_ms())
                self.counted += self._committing
                self.commits += 1
        except StoreUnavailable as error:
            if not self._is_failing:  # Logged once, not for every batch.
                _log.warning("Downloads cannot be counted just now.", reason=error.message)
            problem = error
        except BaseException:
            _log.exception("Downloads could not be counted.")
            problem = StoreUnavailable("The download could not be counted. Try again later.")
        self._is_stuck = False
        if self._is_failing and problem is None:
            _log.info("Downloads are counted again.")
        self._is_failing = problem is not None
        batch = batch or self._take()
        self._committing = 0
        if batch is None:
            return
        loop = batch.committed.get_loop()
        if not loop.is_closed():
            loop.call_soon_threadsafe(_settle, batch.committed, problem)

    def _write_days(self) -> None:
        """Write counts by day without a commit of counts; on failure they wait for the next one."""
        if not self._days.has_any:
            return
        try:
            with self._store.counting() as tx:
                self._days.write(tx)
        except StoreUnavailable:
            return
        self._days.forget()

    def _new_batch(self) -> _Batch:
        """A batch that times out with its requests."""
        loop = asyncio.get_running_loop()
        batch = _Batch(Counter(), loop.create_future())
        timeout_s = _SHORT_TIMEOUT_S if self._is_stuck else _TIMEOUT_S
        timer = loop.call_later(timeout_s, self._give_up, batch)
        batch.committed.add_done_callback(lambda _: timer.cancel())
        return batch

    def _give_up(self, batch: _Batch) -> None:
        """Fail a batch, and withdraw it unless its commit has started."""
        with self._lock:
            if self._pending is batch:
                self._pending = None
        self._is_stuck = True
        if not self._is_failing:
            self._is_failing = True
            _log.warning("Downloads cannot be counted just now.", reason=self._store.writer())
        _settle(batch.committed, StoreUnavailable(_BUSY))


def _settle(committed: "asyncio.Future[None]", error: BaseException | None) -> None:
    if committed.done():
        return
    if error is None:
        committed.set_result(None)
    else:
        committed.set_exception(error)
