"""An import while others write: staged without a lock, accepted atomically, then written.

1. Every line is read, checked on its own and spooled. This blocks nobody, however long it takes.
2. Everything is compared with the catalog and staged in it, where nothing refers to it.
3. One short transaction accepts it, if nothing relevant has changed. Before it, the import has no
   effect; after it, it will be completed.
4. It is written in short transactions, with pauses for other writers: see
   `catalog/accepted_import.py`. If this is interrupted, the service or the next command continues.
"""

import contextlib
import shutil
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..catalog.accepted_import import PAUSE_S, SLICE_S, complete_import, discard_import
from ..catalog.store.feed import latest_seq, list_changes
from ..catalog.store.rows import Draft
from ..catalog.store.staging import (
    accept_import,
    add_batch,
    begin_import,
    importing,
)
from ..core.db.engine import Snapshot, Store
from ..core.errors import StoreUnavailable
from .import_bundles import BundleImporter
from .import_checks import Decision, ImportChecks, ImportSummary, by_decision
from .import_faults import ImportFaults
from .import_lines import ImportLines
from .spool import Spool

# Duration of a transaction that stages batches.
_SLICE_S = SLICE_S
# Widgets written between checks of the time; merging takes longer than adding.
_MAX_ADDED = 250
_MAX_MERGED = 100
# How long an import waits for a running one.
_TIMEOUT_S = 600
_MAX_CHANGES = 1000
# Staged drafts take this many times their packed size when written, including SQLite's log.
_ROOM = 20


class Started(NamedTuple):
    """An import as requested. `make_index_ready` is called when everything is written."""

    store: Store
    importer: BundleImporter
    file_name: str
    into_owned: bool
    make_index_ready: Callable[[], None]


def import_staged(started: Started, lines: ImportLines, spool: Spool) -> ImportSummary:
    """Import the spool; `lines`, from which it was read, may have errors."""
    with only_import(started):
        staging = Staging(started, spool)
        staging.check(lines.faults)
        try:
            staging.stage()
            summary = staging.accept(lines.texts_cleaned)
        except BaseException:
            with contextlib.suppress(StoreUnavailable):
                discard_import(started.store)
            raise
        try:
            complete_import(started.store, started.make_index_ready)
        except StoreUnavailable as fault:
            raise StoreUnavailable(
                f"{fault.message} The import is accepted, and goes on by itself as soon as the "
                "catalog can be written."
            ) from fault
    return summary


@contextlib.contextmanager
def only_import(started: Started) -> Iterator[None]:
    """Wait for a running import, and finish one that was interrupted."""
    with importing(started.store, _TIMEOUT_S) as other:
        if other is not None:
            raise StoreUnavailable(
                f"Another import is still under way: {other}. Try again when it has ended."
            )
        complete_import(started.store, started.make_index_ready)
        yield


class Staging:
    """From the spool until the import is accepted."""

    def __init__(self, started: Started, spool: Spool) -> None:
        self._store = started.store
        self._started = started
        self._spool = spool
        self._seq = 0
        self._decisions: list[list[Decision]] = []

    def check(self, faults: ImportFaults) -> None:
        """Raise InvalidImport with these errors and those found by comparing with the catalog."""
        with self._store.reading() as connection:
            self._seq = latest_seq(connection)
            self._hold_against(connection, faults)
            self._checks.check_noted(connection)
        faults.check()

    def stage(self) -> None:
        self._check_room()
        with self._store.writing() as tx:
            begin_import(tx, self._started.file_name)
        batches = enumerate(self._batches())
        batch = next(batches, None)
        while batch is not None:
            with self._store.writing() as tx:
                until = time.monotonic() + _SLICE_S
                while batch is not None and time.monotonic() < until:
                    add_batch(tx, *batch)
                    batch = next(batches, None)
            if batch is not None:
                time.sleep(PAUSE_S)

    def accept(self, texts_cleaned: int) -> ImportSummary:
        with self._store.publishing() as tx:
            changes = list_changes(tx.connection, self._seq, _MAX_CHANGES)
            is_current = len(changes) < _MAX_CHANGES and self._checks.still_hold(
                tx.connection, {it.scope for it in changes}
            )
            if not is_current:
                faults = ImportFaults()
                self._hold_against(tx.connection, faults)
                faults.check()
            self._started.importer.check_present(tx.connection)
            self._checks.finish(tx, self._started.file_name, texts_cleaned)
            accept_import(tx)
        return self._checks.summary

    def _hold_against(self, connection: Snapshot, faults: ImportFaults) -> None:
        self._checks = ImportChecks(
            faults,
            self._started.importer,
            into_owned=self._started.into_owned,
            is_repeated=self._spool.is_repeated,
        )
        self._decisions = [self._checks.decide(connection, batch) for batch in self._spool]

    def _batches(self) -> Iterator[list[Draft]]:
        """The batches to be written. Existing data is never changed."""
        for lines, decisions in zip(self._spool, self._decisions, strict=True):
            added, merged = by_decision(lines, decisions)
            for drafts, most in ((added, _MAX_ADDED), (merged, _MAX_MERGED)):
                for start in range(0, len(drafts), most):
                    yield drafts[start : start + most]

    def _check_room(self) -> None:
        """An accepted import is never aborted, so it must fit on the disk."""
        folder = self._store.run_folder
        if folder and shutil.disk_usage(folder).free < _ROOM * self._spool.size_bytes:
            raise StoreUnavailable("There is not enough room on the disk. Nothing was imported.")
