"""Counting downloads by group commit: nothing acknowledged is lost, a thousand cost one commit.

Increments pile up while a commit is under way; the next commit takes them all. There is
no timer: a lone increment is committed at once. The thread that commits may wait for other writers
as long as it takes; those who wait for it do so for some seconds.
"""

import asyncio
import threading

import structlog

from ..domain.errors import StoreUnavailable
from ..store.downloads import add_downloads
from ..store.engine import Store

_PATIENCE_S = 5.0
# For those who come when others have waited in vain, and nothing has moved since.
_SHORT_PATIENCE_S = 1.0

_BUSY = "The catalog is busy with a long write. Try again soon."

_log = structlog.get_logger("widget_catalog.downloads")


class _Batch:
    """Increments that will be committed together, and the future all their callers wait on."""

    __slots__ = ("committed", "increments")

    def __init__(self, committed: "asyncio.Future[None]") -> None:
        self.increments: dict[int, int] = {}
        self.committed = committed


class DownloadCounter:
    """One per worker. `count` belongs to the event loop, the commits to a thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pending: _Batch | None = None
        self._lock = threading.Lock()
        self._wakes = threading.Semaphore(0)
        self._is_closing = False
        self._is_failing = False
        self._is_stuck = False
        self._thread = threading.Thread(target=self._commit_forever, name="download-counter")
        self._thread.daemon = True
        self._thread.start()

    async def count(self, widget_id: int) -> None:
        """Return once the increment is committed, or raise StoreUnavailable."""
        with self._lock:
            batch = self._pending
            if batch is None:
                batch = self._pending = _Batch(self._promise())
                self._wakes.release()
            elif batch.committed.done():
                # The patience of those who came before is over; who comes now has their own.
                batch.committed = self._promise()
            batch.increments[widget_id] = batch.increments.get(widget_id, 0) + 1
            committed = batch.committed
        # Shielded: one who goes away must not end the waiting of all the others.
        await asyncio.shield(committed)

    def close(self) -> None:
        """Commit what is pending, then stop."""
        self._is_closing = True
        self._wakes.release()
        self._thread.join()

    def _commit_forever(self) -> None:
        while True:
            self._wakes.acquire()
            with self._lock:
                batch, self._pending = self._pending, None
            if batch is not None:
                self._commit(batch)
            elif self._is_closing:
                return

    def _commit(self, batch: _Batch) -> None:
        fault: BaseException | None = None
        try:
            with self._store.writing() as tx:
                add_downloads(tx, batch.increments)
        except StoreUnavailable as error:
            if not self._is_failing:  # Told once, and not again for every batch.
                _log.warning("Downloads cannot be counted just now.", reason=error.message)
            fault = error
        except BaseException as error:
            _log.exception("Downloads could not be counted.")
            fault = StoreUnavailable(f"The download could not be counted ({error}).")
        self._is_stuck = False
        if self._is_failing and fault is None:
            _log.info("Downloads are counted again.")
        self._is_failing = fault is not None
        loop = batch.committed.get_loop()
        if not loop.is_closed():
            loop.call_soon_threadsafe(_settle, batch.committed, fault)

    def _promise(self) -> "asyncio.Future[None]":
        """A future that fails when patience is over."""
        loop = asyncio.get_running_loop()
        committed: asyncio.Future[None] = loop.create_future()
        patience_s = _SHORT_PATIENCE_S if self._is_stuck else _PATIENCE_S
        timer = loop.call_later(patience_s, self._give_up, committed)
        committed.add_done_callback(lambda _: timer.cancel())
        return committed

    def _give_up(self, committed: "asyncio.Future[None]") -> None:
        """The increments may still be committed later; they are just not promised."""
        self._is_stuck = True
        if not self._is_failing:
            self._is_failing = True
            _log.warning("Downloads cannot be counted just now.", reason=self._store.writer())
        _settle(committed, StoreUnavailable(_BUSY))


def _settle(committed: "asyncio.Future[None]", fault: BaseException | None) -> None:
    if committed.done():
        return
    if fault is None:
        committed.set_result(None)
    else:
        committed.set_exception(fault)
