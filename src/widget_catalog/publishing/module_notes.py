"""Notes for the author about an uploaded module: what no browser can run in it.

It is parsed in a child process with limits, in fair turns by scope. The notes are advice: they
never prevent publishing, and what the module exports is not looked at.
"""

from collections import OrderedDict

from widget_contract.browser_modules import find_unsupported, parse_module

from ..core.errors import Busy
from ..core.jobs.bounded_work import BoundedWork

_LINE_BREAK = b"\n"
_MAX_NOTES = 10
_MAX_KEPT = 100


def list_notes(module: bytes) -> list[str]:
    """None of a module that cannot be parsed: the preview shows that it does not run."""
    root = parse_module(module).root_node
    if root.has_error:
        return []
    found = find_unsupported(module, root)[:_MAX_NOTES]
    return [f"Line {module.count(_LINE_BREAK, 0, it.offset) + 1:,}: {it}" for it in found]


class ModuleNotes:
    """The notes about modules, by their hash. One per worker."""

    def __init__(self) -> None:
        self._parsing: BoundedWork[bytes, list[str]] = BoundedWork(list_notes)
        self._kept: OrderedDict[str, list[str]] = OrderedDict()

    def about(self, sha256_hash: str) -> list[str] | None:
        """None before they were made."""
        return self._kept.get(sha256_hash)

    async def make(self, sha256_hash: str, module: bytes, scope: str) -> None:
        """There are none if parsing exceeds the limits, and none yet if others come first."""
        try:
            notes = await self._parsing.ask(module, scope, sha256_hash)
        except Busy:
            return
        self._kept[sha256_hash] = notes or []
        if len(self._kept) > _MAX_KEPT:
            self._kept.popitem(last=False)
