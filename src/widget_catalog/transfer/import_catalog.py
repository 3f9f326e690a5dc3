"""Import: adds a file of widgets to the catalog, atomically.

Import adds what is missing and never changes what exists: a version that is already published with
the same hash is skipped, with another hash it is an error.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from pathlib import Path

from ..catalog.reading.accepted_import import merge_drafts
from ..catalog.store.drafts import Draft, draft
from ..catalog.store.events import require_no_mirror
from ..catalog.store.files import withdraw_files
from ..catalog.store.widgets import add_drafts
from ..core.clock import from_ms
from ..core.db.engine import Store
from ..core.errors import InvalidWidget, StoreUnavailable
from ..core.files.contract import Bundles
from ..core.jobs.process_pool import collector_paused
from .drafting import Line, draft_lines
from .import_bundles import FileImporter
from .import_checks import ImportChecks, ImportErrors, ImportSummary, Numbered
from .line_shapes import files_in, scope_in
from .ndjson import Rules, decode_line
from .staged_import import Spool, Started, import_staged, only_import

# Tolerance for a clock ahead of ours on the machine that wrote the file.
_CLOCK_SKEW = timedelta(minutes=5)
# Up to this many batches fit into one short transaction, and need not be staged.
_MAX_AT_ONCE = 1


def import_catalog(
    store: Store,
    bundles: Bundles,
    lines: Iterable[bytes],
    base_folder: Path,
    max_bundle_bytes: int,
    progress: Callable[[int], None] = lambda _lines: None,
    *,
    file_name: str = "standard input",
    into_owned: bool = False,
    is_lenient: bool = False,
    is_alone: bool = False,
    make_index_ready: Callable[[], None] = lambda: None,
) -> ImportSummary:
    """Import every line, or raise InvalidImport with all errors and store nothing.

    Paths in `bundleFile` are relative to `base_folder`; `file_name` goes into the audit log. Only
    with `into_owned` may a line add to a scope of an account or organization.
    `is_lenient` removes unwanted characters from texts, instead of rejecting the file. With
    `is_alone` everything is one transaction, from the first line on: that is faster, but blocks
    all other writers. `make_index_ready` is called after many changes.
    """
    importer = FileImporter(store, bundles, base_folder, max_bundle_bytes)
    started = Started(importer, file_name, into_owned, make_index_ready)
    with store.reading() as connection:
        require_no_mirror(connection)
    rules = Rules(from_ms(store.now_ms()) + _CLOCK_SKEW, is_lenient)
    reading = ImportLines(lines, rules, importer, progress)
    try:
        with collector_paused():
            summary = _write_at_once(started, reading) if is_alone else _spool(started, reading)
    except BaseException as error:
        with contextlib.suppress(StoreUnavailable):
            if isinstance(error, StoreUnavailable):
                store.overwrite_failed_commit()
            importer.remove_new()
            withdraw_files(store, bundles)  # It may have stored revoked bytes again.
        raise
    importer.remove_unused()
    withdraw_files(store, bundles)
    return summary


def _spool(started: Started, lines: "ImportLines") -> ImportSummary:
    with contextlib.closing(Spool(started.store.run_folder)) as spool:
        for batch in lines.read():
            spool.add(batch)
        if len(spool) > _MAX_AT_ONCE:
            return import_staged(started, spool, lines.errors, lines.texts_cleaned)
        return _write_at_once(started, lines, spool)


def _write_at_once(
    started: Started, lines: "ImportLines", spool: Spool | None = None
) -> ImportSummary:
    """All in one transaction; without a spool, other writers wait until all lines are read."""
    checks = ImportChecks(lines.errors, started.importer, into_owned=started.into_owned)
    with only_import(started):
        with started.store.publishing() as tx:
            for batch in lines.read() if spool is None else spool:
                new, more = checks.decide(tx.connection, batch)
                add_drafts(tx, new)
                merge_drafts(tx, more)
            checks.check_noted(tx.connection)
            lines.errors.check()
            started.importer.check_present(tx.connection)
            checks.finish(tx, started.file_name, lines.texts_cleaned)
        started.make_index_ready()
    return checks.summary


class ImportLines:
    """The lines of an import file as drafts: each is decoded and checked separately. Continues
    after an error, to find the others as well.
    """

    def __init__(
        self,
        lines: Iterable[bytes],
        rules: Rules,
        importer: FileImporter,
        progress: Callable[[int], None],
    ) -> None:
        self.errors = ImportErrors()
        self.texts_cleaned = 0
        self._lines = lines
        self._rules = rules
        self._prepare = importer.store.prepare
        self._importer = importer
        self._progress = progress

    def read(self) -> Iterator[list[Numbered]]:
        """All valid lines, some hundred at a time, with their line numbers."""
        drafts = draft_lines(self._lines, self._rules.newest, self._prepare)
        with contextlib.closing(drafts) as drafted:
            for batch in drafted:
                rest = [it.text for it in batch if it.draft is None]
                self._importer.add_ahead(file for text in rest for file in files_in(text))
                yield [(it.number, made) for it in batch if (made := it.draft or self._draft(it))]
                self._progress(len(batch))

    def _draft(self, line: Line) -> Draft | None:
        """For a line that names files, has an error, or is empty."""
        if not line.text.strip():
            return None
        try:
            found = decode_line(line.text, self._importer.add, self._rules)
        except InvalidWidget as error:
            for problem in error.errors:
                self.errors.add(line.number, problem)
            if scope := scope_in(line.text):
                self.errors.note_scope(line.number, scope)
            return None
        self.texts_cleaned += found.texts_cleaned
        return draft(found.widget, found.downloads, self._prepare(found.widget))
