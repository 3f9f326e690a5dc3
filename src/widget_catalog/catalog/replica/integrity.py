"""Checks in a child process whether a replica's file is intact; and Healing: a damaged one is noted
by the process that reads it, and rebuilt by the next `apply` of any process: it is derived from the
store.

LMDB trusts its own pages: a damaged one may crash the process that reads it. So a start, and a
worker whose predecessor died, first let a child read all of them.
"""

import contextlib
import operator
import os
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeAlias

import lmdb
import structlog

from ...core.errors import DataDamaged, ReplicaDamaged, StoreUnavailable
from .documents import Documents
from .file import ReplicaFile, errors_named, find_current
from .records import FORMAT, DocumentRecord

Reading: TypeAlias = "lmdb.Transaction[bytes]"

# Larger batches are slower, because freed memory is then no longer in the CPU cache.
_AT_ONCE = 1_000
_INTACT, _DAMAGED, _UNKNOWN = range(3)


def is_intact(folder: Path, *, is_thorough: bool = False) -> bool:
    """Also true if there is none, or if that cannot be determined. `is_thorough` reads every
    document.

    Call this before this process opens the replica.
    """
    path = find_current(folder)
    if path is None:
        return True
    walk = partial(_walk_all, path, is_thorough=is_thorough)
    return _run_in_child(walk) in (_INTACT, _UNKNOWN)


def _walk_all(path: Path, *, is_thorough: bool) -> int:
    try:
        documents = Documents(path.parent)
        if documents.state().format != FORMAT:
            return _INTACT  # It is rebuilt anyway.
        with errors_named(), documents.file.environment.begin() as reading:
            _walk(documents.file, reading, is_thorough=is_thorough)
        documents.check_listings()
    except (StoreUnavailable, OSError) as error:
        # Other errors, such as a full disk, are not damage.
        return _DAMAGED if isinstance(error, DataDamaged) else _UNKNOWN
    return _INTACT


def _walk(file: ReplicaFile, reading: Reading, *, is_thorough: bool) -> None:
    """Raises ValueError or DataDamaged. In chunks: a million keys take a second or two."""
    for table in file.tables:
        count, last = 0, b""
        for keys in _chunks(reading.cursor(table).iternext(keys=True, values=False)):
            if not all(map(operator.lt, [last, *keys], keys)):
                raise ValueError("Two keys are in the wrong order.")
            count, last = count + len(keys), keys[-1]
        if count != reading.stat(table)["entries"]:
            raise ValueError("There are keys missing.")
    if is_thorough:
        for record in reading.cursor(file.documents).iternext(keys=False, values=True):
            DocumentRecord(record).verify()


def _chunks(them: Iterator[bytes]) -> Iterator[list[bytes]]:
    while some := list(islice(them, _AT_ONCE)):
        yield some


def _run_in_child(work: Callable[[], int]) -> int:
    """Run work that may crash its process: LMDB trusts its own pages. Returns the exit code of the
    process, which `work` returns; below zero if it was killed.
    """
    with warnings.catch_warnings():
        # About threads, which the child does not need.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        code = _DAMAGED
        try:
            code = work()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


_log = structlog.get_logger("widget_catalog.replica")

# In the replica's folder; it names the file that was found to be damaged last.
_NOTE = "damaged"
# On a failing disk every new file is damaged, too: rebuilding it over and over would not help.
_EVERY_S = 30.0


class Healing:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._note = folder / _NOTE
        # How often this process has read something damaged.
        self.found = 0

    def condemn(self, error: ReplicaDamaged) -> None:
        """Have the current file rebuilt, unless another one was damaged a moment ago."""
        self.found += 1
        path = find_current(self._folder)
        if path is None or self.is_condemned or self._age_s() < _EVERY_S:
            return
        with errors_named():
            self._note.write_text(path.name, encoding="ascii")
        _log.error("The read model is damaged, and is rebuilt.", error=error.message)

    @property
    def is_condemned(self) -> bool:
        """Whether the current file is known to be damaged, and is not rebuilt yet."""
        try:
            condemned = self._note.read_text("ascii")
        except (OSError, ValueError):
            return False
        path = find_current(self._folder)
        return path is not None and path.name == condemned

    @property
    def is_needed(self) -> bool:
        """Whether the file is damaged, or was removed while processes still have it open."""
        return find_current(self._folder) is None or self.is_condemned

    def _age_s(self) -> float:
        """How long ago a file was condemned."""
        with contextlib.suppress(OSError):
            return abs(time.time() - self._note.stat().st_mtime)
        return float("inf")
