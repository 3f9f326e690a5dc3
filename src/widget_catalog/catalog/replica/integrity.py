"""Checks in a child process whether a replica can be read; and Healing: a damaged one is noted by
the process that reads it, and rebuilt by the next `apply` of any process: it is derived from the
store.

LMDB trusts its own pages: a damaged one may crash the process that reads it. So a start first lets
a child read what the search index needs, and a worker whose predecessor died, all of it.
"""

import contextlib
import os
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import structlog

from ...core.errors import DataDamaged, ReplicaDamaged, StoreUnavailable
from .file import errors_named, find_current
from .reader import ReplicaReader
from .records import FORMAT

_INTACT, _DAMAGED, _UNKNOWN = range(3)


def is_intact(folder: Path, read: Callable[[], None]) -> bool:
    """Whether this function can read the replica in this folder. Also true if there is none, if it
    is of another release, which rebuilds it anyway, or if that cannot be determined.

    Call this before this process opens the replica.
    """
    return find_current(folder) is None or _run_in_child(partial(_attempt, folder, read)) in (
        _INTACT,
        _UNKNOWN,
    )


def _attempt(folder: Path, read: Callable[[], None]) -> int:
    try:
        with contextlib.closing(ReplicaReader(folder)) as reader:
            is_current = reader.state().format == FORMAT
        if is_current:
            read()
    except (StoreUnavailable, OSError) as error:
        # Other errors, such as a full disk, are not damage.
        return _DAMAGED if isinstance(error, DataDamaged) else _UNKNOWN
    return _INTACT


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
