"""Healing: a damaged replica is noted by the process that reads it, and rebuilt by the next `apply`
of any process: it is derived from the store.
"""

import contextlib
import time
from pathlib import Path

import structlog

from ...core.errors import ReplicaDamaged
from .file import errors_named, find_current

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
