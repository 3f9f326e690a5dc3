"""IndexFollower: keeps a worker's index up to date without blocking its clients.

A few changes are applied at once. Thousands cause a rebuild of a large index, in a separate
process; details and counts are served meanwhile, and searches wait for it: on nodes only for a
moment, and then they use the old index. While an import is being written, searches do not wait:
they find its changes when it is complete, and all others at once.
"""

import asyncio
import contextlib
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import structlog

from ...core.errors import StoreUnavailable
from ..replica.reader import ReplicaReader
from ..replica.revision import Counts
from ..replica.rows import ChangeRow
from . import file as index_file
from .file import load_index, open_index
from .index import SearchIndex

_MAX_LISTED = 10_000
# Only an import writes more widgets than this in a transaction.
_MAX_SCATTERED = 100

_log = structlog.get_logger("widget_catalog.search")


class IndexSource(NamedTuple):
    """The replica that an index is built from, and the file that it is stored in.

    With fewer widgets than `least` there is no file, and no separate process.
    """

    replica: Path
    file: Path
    least: int = index_file.MIN_WIDGETS


class IndexFollower:
    def __init__(self, reader: ReplicaReader, counts: Counts, source: IndexSource | None) -> None:
        self._reader = reader
        self._counts = counts
        self._source = source
        self._building: asyncio.Future[None] | None = None
        self._builder: subprocess.Popen[bytes] | None = None
        self._is_closed = False
        # Widgets whose change is not in the index yet; with too many, they are not listed.
        self.changed: set[int] = set()
        self.is_outdated = False
        if source is None:
            with reader.snapshot():
                self.seq = reader.latest_seq()
                self.index = SearchIndex(reader, counts)
        else:
            self.seq, parts = open_index(reader, source.file, least=source.least)
            self.index = SearchIndex(reader, counts, parts=parts)

    @property
    def is_behind(self) -> bool:
        return bool(self.changed) or self.is_outdated

    def note(self, changes: Sequence[ChangeRow]) -> None:
        """Record that these widgets have changed."""
        if len(changes) <= _MAX_SCATTERED or not self._reader.is_importing():
            self.changed.update(it.widget_id for it in changes)
            return
        together = Counter(it.changed_at for it in changes)
        for change in changes:
            if together[change.changed_at] > _MAX_SCATTERED:
                self.is_outdated = True
            else:
                self.changed.add(change.widget_id)

    def note_many(self, after: int) -> None:
        """Too much has changed after this, or it is unknown what: rebuild everything."""
        self.is_outdated = True
        if self._reader.is_importing():
            some = self._reader.list_scattered_changes(after, _MAX_SCATTERED)
            self.changed.update(some)

    def follow(self) -> None:
        """Apply changes, or start a rebuild. Inside a snapshot."""
        if self.changed and (not self._must_rebuild or self._can_add_few):
            # Its position among widgets of a running import by name is corrected at the end.
            self.index.update(self.changed)
            self.changed.clear()
        if not self._must_rebuild:
            return
        if not self._reader.is_importing():
            # What is changed from now on is added to the old index meanwhile.
            self.is_outdated = True
            self.changed.clear()
        if (source := self._large_source) and (loop := _running_loop()):
            # Requests that do not wait for it are served from the old index.
            self._build_apart(source, loop).add_done_callback(_log_error)
        else:
            self.index = self.index.rebuilt()
            self.changed.clear()
            self.is_outdated = False

    async def catch_up(self) -> None:
        """Return when the changes can be applied immediately."""
        while self._must_rebuild and (source := self._large_source) is not None:
            building = self._build_apart(source, asyncio.get_running_loop())
            # Shielded: a client that disconnects must not cancel it for the others.
            await asyncio.shield(building)

    def close(self) -> None:
        self._is_closed = True
        if self._builder is not None:
            self._builder.kill()

    @property
    def _must_rebuild(self) -> bool:
        if not self.index.has_room_for(len(self.changed)):
            return True
        return self.is_outdated and not self._reader.is_importing()

    @property
    def _can_add_few(self) -> bool:
        """Whether there are so few changes that they can be added to an index that is replaced."""
        return len(self.changed) <= _MAX_SCATTERED and self.index.has_room_for(len(self.changed))

    @property
    def _large_source(self) -> IndexSource | None:
        """The source for building in a separate process, if the index is large enough for one."""
        source = self._source
        return source if source and self._reader.highest_id() >= source.least else None

    def _build_apart(
        self, source: IndexSource, loop: asyncio.AbstractEventLoop
    ) -> "asyncio.Future[None]":
        if self._building is None:
            self._building = loop.create_future()
            made = loop.run_in_executor(None, self._run_builder, source)
            made.add_done_callback(self._adopt)
        return self._building

    def _run_builder(self, source: IndexSource) -> tuple[int, SearchIndex]:
        """In a thread: a process builds the file, unless it is current; then it is mapped."""
        with contextlib.closing(ReplicaReader(source.replica)) as reader:
            opened = load_index(reader, source.file)
            if opened is None:
                command = [sys.executable, "-P", "-m", f"{__package__}.file", *map(str, source)]
                # In its own session, because Ctrl-C is handled by the parent.
                with subprocess.Popen(command, start_new_session=True) as self._builder:  # noqa: S603
                    pass
                if self._is_closed:
                    raise StoreUnavailable("The search index is no longer needed.")
                opened = open_index(reader, source.file, least=source.least)
        return opened.seq, SearchIndex(self._reader, self._counts, parts=opened.parts)

    def _adopt(self, made: "asyncio.Future[tuple[int, SearchIndex]]") -> None:
        building, self._building = self._building, None
        if made.cancelled():
            return
        made.exception()  # Otherwise asyncio logs it if it is not used below.
        if building is None or building.cancelled() or self._is_closed:
            return
        try:
            seq, self.index = made.result()
            # Changes made meanwhile; if there are very many, start again.
            later = self._reader.list_changes(seq)
            self.is_outdated = later is None or len(later) > _MAX_LISTED
            self.changed = set() if self.is_outdated else {it.widget_id for it in later or ()}
            building.set_result(None)
        except Exception as error:
            building.set_exception(error)


def _log_error(building: "asyncio.Future[None]") -> None:
    if not building.cancelled() and (error := building.exception()):
        _log.error("The search index could not be built.", error=str(error))


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
