"""Child processes for untrusted input that outlive their site: the next site uses them. Starting
one takes longer than most tests, and most tests have a site of their own.
"""

import contextlib
import subprocess
import threading
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

from widget_catalog.core.jobs import bounded_work
from widget_catalog.core.jobs.bounded_work import BoundedProcess

_Process = subprocess.Popen[bytes]


@contextlib.contextmanager
def shared_bounded_processes() -> Iterator[None]:
    """A process is kept only if its last task was finished: others are ended as usual."""
    is_over = threading.Event()
    kinds: dict[_Process, tuple[str, float]] = {}
    idle: set[_Process] = set()
    kept: defaultdict[tuple[str, float], list[_Process]] = defaultdict(list)
    usual_start, usual_end = bounded_work._start, bounded_work._end
    usual_ask, usual_running = BoundedProcess._ask, BoundedProcess._running

    def start(*kind: Any) -> _Process:
        while kept[kind]:
            process = kept[kind].pop()
            if process.poll() is None:
                return process
            usual_end(process)
        process = usual_start(*kind)
        kinds[process] = kind
        return process

    def end(process: _Process) -> None:
        if not is_over.is_set() and process in idle and process.poll() is None:
            kept[kinds[process]].append(process)
        else:
            usual_end(process)

    def running(self: BoundedProcess[Any, Any]) -> _Process:
        process = usual_running(self)
        idle.discard(process)
        return process

    def ask(self: BoundedProcess[Any, Any], question: Any) -> Any:
        response = usual_ask(self, question)
        if self._process is not None:
            idle.add(self._process)
        return response

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounded_work, "_start", start)
        patch.setattr(bounded_work, "_end", end)
        patch.setattr(BoundedProcess, "_running", running)
        patch.setattr(BoundedProcess, "_ask", ask)
        yield
    is_over.set()
    for processes in kept.values():
        for process in processes:
            usual_end(process)
