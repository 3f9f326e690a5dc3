"""An import while others write: staged without a lock, accepted atomically, then written.

1. Every line is read, checked on its own and spooled. This blocks nobody, however long it takes.
2. Everything is compared with the catalog and staged in it, where nothing refers to it.
3. One short transaction accepts it, if nothing relevant has changed. Before it, the import has no
   effect; after it, it will be completed.
4. It is written in short transactions, with pauses for other writers: see
   `catalog/reading/accepted_import.py`. If this is interrupted, the service or the next command
   continues.
"""

import contextlib
import itertools
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ..catalog.reading.accepted_import import complete_import, discard_import
from ..catalog.store.feed import latest_seq, list_changes
from ..catalog.store.staging import accept_import, add_batch, begin_import, importing, pack, unpack
from ..catalog.store.widgets import Key
from ..core.db.engine import Store
from ..core.errors import StoreUnavailable
from .import_bundles import FileImporter
from .import_checks import ImportChecks, ImportErrors, ImportSummary, Numbered

# Widgets in a staged batch, which is written at once; merging takes longer than adding.
_MAX_ADDED = 250
_MAX_MERGED = 100
# How long an import waits for a running one.
_TIMEOUT_S = 600
_MAX_CHANGES = 1000
# Staged drafts take this many times their packed size when written, including SQLite's log.
_ROOM = 20


class Started(NamedTuple):
    """An import as requested. `make_index_ready` is called when everything is written."""

    importer: FileImporter
    file_name: str
    into_owned: bool
    make_index_ready: Callable[[], None]

    @property
    def store(self) -> Store:
        return self.importer.store


class Spool:
    """The drafts of a file, until all of them are known to be valid: in an anonymous temporary
    file, so that nothing is left of it when the process ends.
    """

    def __init__(self, folder: Path | None) -> None:
        with _errors_named():
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        # The size of each batch, and the numbers of its lines.
        self._batches: list[tuple[int, list[int]]] = []
        # Hashes, so that a million widgets take little memory.
        self._seen: set[int] = set()
        self._repeated: set[int] = set()

    def close(self) -> None:
        with contextlib.suppress(OSError):  # Data that was not written is not needed.
            self._file.close()

    def __len__(self) -> int:
        """The number of batches."""
        return len(self._batches)

    @property
    def size_bytes(self) -> int:
        return sum(size_bytes for size_bytes, _ in self._batches)

    def add(self, lines: Sequence[Numbered]) -> None:
        if not lines:
            return
        packed = pack([draft for _, draft in lines])
        with _errors_named():
            self._file.write(packed)
        self._batches.append((len(packed), [number for number, _ in lines]))
        for _, draft in lines:
            key = hash(draft.key)
            (self._repeated if key in self._seen else self._seen).add(key)

    def __iter__(self) -> Iterator[list[Numbered]]:
        """All batches, in order."""
        with _errors_named():
            self._file.seek(0)
            for size_bytes, numbers in self._batches:
                yield list(zip(numbers, unpack(self._file.read(size_bytes)), strict=True))

    def is_repeated(self, key: Key) -> bool:
        """Whether this widget is in more than one line. Call this after all lines are added."""
        return hash(key) in self._repeated


def import_staged(
    started: Started, spool: Spool, errors: ImportErrors, texts_cleaned: int
) -> ImportSummary:
    """Import the spool; `errors` are those of lines that are not in it."""
    with only_import(started):
        staging = Staging(started, spool)
        try:
            staging.stage(errors)
            summary = staging.accept(texts_cleaned)
        except BaseException:
            if staging.has_begun:
                with contextlib.suppress(StoreUnavailable):
                    discard_import(started.store)
            raise
        try:
            complete_import(started.store, started.make_index_ready)
        except StoreUnavailable as error:
            raise StoreUnavailable(
                f"{error.message} The import is accepted, and goes on by itself as soon as the "
                "catalog can be written."
            ) from error
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
        self.has_begun = False
        """Whether something may be staged."""

    def stage(self, errors: ImportErrors) -> None:
        """Compare everything with the catalog, and stage what must be written. Raises InvalidImport
        with these errors and those found by comparing.
        """
        self._checks = self._new_checks(errors)
        numbers = itertools.count()
        with self._store.reading() as connection:
            self._seq = latest_seq(connection)
            self._checks.check_noted(connection)
        if not errors:
            self._check_room()
            self.has_begun = True
            with self._store.writing() as tx:
                begin_import(tx, self._started.file_name)
        for lines in self._spool:
            with self._store.reading() as connection:
                new, more = self._checks.decide(connection, lines)
            if errors:
                continue  # Only to find the others.
            with self._store.writing() as tx:
                for drafts, most in ((new, _MAX_ADDED), (more, _MAX_MERGED)):
                    for start in range(0, len(drafts), most):
                        add_batch(tx, next(numbers), drafts[start : start + most])
        errors.check()

    def accept(self, texts_cleaned: int) -> ImportSummary:
        with self._store.publishing() as tx:
            changes = list_changes(tx.connection, self._seq, _MAX_CHANGES)
            is_current = len(changes) < _MAX_CHANGES and self._checks.still_hold(
                tx.connection, {it.scope for it in changes}
            )
            if not is_current:
                errors = ImportErrors()
                self._checks = self._new_checks(errors)
                for lines in self._spool:
                    self._checks.decide(tx.connection, lines)
                errors.check()
            self._started.importer.check_present(tx.connection)
            self._checks.finish(tx, self._started.file_name, texts_cleaned)
            accept_import(tx)
        return self._checks.summary

    def _new_checks(self, errors: ImportErrors) -> ImportChecks:
        return ImportChecks(
            errors,
            self._started.importer,
            into_owned=self._started.into_owned,
            is_repeated=self._spool.is_repeated,
        )

    def _check_room(self) -> None:
        """An accepted import is never aborted, so it must fit on the disk."""
        folder = self._store.run_folder
        if folder and shutil.disk_usage(folder).free < _ROOM * self._spool.size_bytes:
            raise StoreUnavailable("There is not enough room on the disk. Nothing was imported.")


@contextlib.contextmanager
def _errors_named() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreUnavailable(
            f"There is no room to stage the import ({error.strerror}). Nothing was imported."
        ) from None
