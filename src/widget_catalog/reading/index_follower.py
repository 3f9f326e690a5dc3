"""IndexFollower: keeps a worker's index up to date, without keeping the worker's clients waiting.

A few changes are taken in at once. Thousands make a large index anew, in a process apart;
details and counts go on meanwhile, and searches wait for it.
"""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import structlog

from . import index_file
from .documents import Documents
from .index_file import open_index
from .revision import Counts
from .search import SearchIndex

_MOST_LISTED = 10_000

_log = structlog.get_logger("widget_catalog.search")


class IndexSource(NamedTuple):
    """Where an index is made from, and the file that it is kept in.

    With fewer widgets than `least` there is no file, and no process apart.
    """

    database: Path
    file: Path
    least: int = index_file.LEAST_WIDGETS


class IndexFollower:
    def __init__(self, documents: Documents, counts: Counts, source: IndexSource | None) -> None:
        self._documents = documents
        self._counts = counts
        self._source = source
        self._building: asyncio.Future[None] | None = None
        self._builder: subprocess.Popen[bytes] | None = None
        # Widgets whose change is not in the index yet, or so many that nobody has listed them.
        self.changed: set[int] = set()
        self.is_outdated = False
        if source is None:
            with documents.snapshot():
                self.seq = documents.latest_seq()
                self.index = SearchIndex(documents, counts)
        else:
            self.seq, parts = open_index(documents, source.file, least=source.least)
            self.index = SearchIndex(documents, counts, parts=parts)

    @property
    def is_behind(self) -> bool:
        return bool(self.changed) or self.is_outdated

    def follow(self) -> None:
        """Take in what has changed, or see to it that all is built anew. Inside a snapshot."""
        if not self._must_rebuild:
            self.index.update(self.changed)
        elif (source := self._large_source) and (loop := _running_loop()):
            # Whoever does not wait for it is answered from the index as it was.
            self._build_apart(source, loop).add_done_callback(_log_fault)
            return
        else:
            self.index = self.index.rebuilt()
        self.changed.clear()
        self.is_outdated = False

    async def catch_up(self) -> None:
        """Return when what has changed can be taken in at once."""
        while self._must_rebuild and (source := self._large_source) is not None:
            building = self._build_apart(source, asyncio.get_running_loop())
            # Shielded: one who goes away must not end it for all the others.
            await asyncio.shield(building)

    def close(self) -> None:
        if self._builder is not None:
            self._builder.kill()

    @property
    def _must_rebuild(self) -> bool:
        return self.is_outdated or not self.index.has_room_for(len(self.changed))

    @property
    def _large_source(self) -> IndexSource | None:
        """Where the index is made from in a process apart, if it is worth one."""
        source = self._source
        return source if source and self._documents.highest_id() >= source.least else None

    def _build_apart(
        self, source: IndexSource, loop: asyncio.AbstractEventLoop
    ) -> "asyncio.Future[None]":
        if self._building is None:
            self._building = loop.create_future()
            made = loop.run_in_executor(None, self._run_builder, source)
            made.add_done_callback(self._adopt)
        return self._building

    def _run_builder(self, source: IndexSource) -> tuple[int, SearchIndex]:
        """In a thread: its process makes the file, and the index is made of it here."""
        command = [sys.executable, "-m", f"{__package__}.index_file", *map(str, source)]
        with subprocess.Popen(command) as self._builder:  # noqa: S603
            pass
        documents = Documents(source.database)
        try:
            seq, parts = open_index(documents, source.file, least=source.least)
        finally:
            documents.close()
        return seq, SearchIndex(self._documents, self._counts, parts=parts)

    def _adopt(self, made: "asyncio.Future[tuple[int, SearchIndex]]") -> None:
        building, self._building = self._building, None
        if building is None or building.cancelled() or made.cancelled():
            return
        try:
            seq, self.index = made.result()
            # What came meanwhile; if that is very much, all begins again.
            self.is_outdated = self._documents.latest_seq() - seq > _MOST_LISTED
            later = [] if self.is_outdated else self._documents.list_changes(seq)
            self.changed = {widget_id for _, widget_id, _, _ in later}
            building.set_result(None)
        except Exception as fault:
            building.set_exception(fault)


def _log_fault(building: "asyncio.Future[None]") -> None:
    if not building.cancelled() and (fault := building.exception()):
        _log.error("The search index could not be built.", fault=str(fault))


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
