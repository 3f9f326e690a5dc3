"""The lines of an import file as drafts: each is decoded and checked separately."""

import contextlib
from collections.abc import Callable, Iterable, Iterator

from ..catalog.store.rows import Draft, Prepare, draft
from ..core.errors import InvalidWidget
from ..core.files.contract import Kind
from .drafting import Line, draft_lines
from .import_bundles import BundleImporter
from .import_checks import Numbered
from .import_faults import ImportFaults
from .ndjson import Rules, decode_line, files_in, scope_in


class ImportLines:
    """Continues after an error, to find the others as well."""

    def __init__(
        self,
        lines: Iterable[bytes],
        rules: Rules,
        prepare: Prepare,
        importer: BundleImporter,
        progress: Callable[[int], None],
    ) -> None:
        self.faults = ImportFaults()
        self.texts_cleaned = 0
        self._lines = lines
        self._rules = rules
        self._prepare = prepare
        self._importer = importer
        self._progress = progress

    def read(self) -> Iterator[list[Numbered]]:
        """All valid lines, some hundred at a time, with their line numbers."""
        drafts = draft_lines(self._lines, self._rules.newest, self._prepare)
        with contextlib.closing(drafts) as drafted:
            for batch in drafted:
                self._importer.add_ahead(_files_in(batch))
                yield [(it.number, made) for it in batch if (made := it.draft or self._draft(it))]
                self._progress(len(batch))

    def _draft(self, line: Line) -> Draft | None:
        """For a line that names files, has an error, or is empty."""
        if not line.text.strip():
            return None
        try:
            found = decode_line(line.text, self._importer.add, self._rules)
        except InvalidWidget as error:
            for fault in error.faults:
                self.faults.add(line.number, fault)
            if scope := scope_in(line.text):
                self.faults.note_scope(line.number, scope)
            return None
        self.texts_cleaned += found.texts_cleaned
        return draft(found.widget, found.downloads, self._prepare(found.widget))


def _files_in(batch: Iterable[Line]) -> Iterator[tuple[str, Kind]]:
    """The files named by lines that are still to be drafted."""
    return (file for it in batch if it.draft is None for file in files_in(it.text))
