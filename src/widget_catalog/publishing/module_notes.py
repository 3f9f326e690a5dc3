"""Notes for the author about an uploaded module: what no browser can run in it.

It is parsed in a child process with limits. The notes are advice: they never prevent publishing,
and what the module exports is not looked at.
"""

from collections import OrderedDict
from threading import Lock

from widget_contract.browser_modules import find_unsupported, parse_module

from ..core.errors import Busy
from ..core.jobs.bounded_work import BoundedProcess

_LINE_BREAK = b"\n"
_MAX_NOTES = 10
_MAX_KEPT = 100
_MAX_WAIT_S = 5


def list_notes(module: bytes) -> list[str]:
    """None of a module that cannot be parsed: the preview shows that it does not run."""
    root = parse_module(module).root_node
    if root.has_error:
        return []
    found = find_unsupported(module, root)[:_MAX_NOTES]
    return [f"Line {module.count(_LINE_BREAK, 0, it.offset) + 1:,}: {it}" for it in found]


class ModuleNotes:
    """The notes about modules, by their hash."""

    def __init__(self) -> None:
        self._process = BoundedProcess[bytes, list[str]](list_notes)
        self._turn = Lock()
        self._kept: OrderedDict[str, list[str]] = OrderedDict()

    def about(self, sha256_hash: str, module: bytes) -> list[str]:
        """None if others come first, or if parsing exceeds the limits."""
        kept = self._kept.get(sha256_hash)
        if kept is not None:
            return kept
        if not self._turn.acquire(timeout=_MAX_WAIT_S):
            return []
        try:
            notes = self._process.ask(module) or []
            self._kept[sha256_hash] = notes
            if len(self._kept) > _MAX_KEPT:
                self._kept.popitem(last=False)
            return notes
        except Busy:
            return []
        finally:
            self._turn.release()
