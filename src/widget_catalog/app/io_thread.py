"""Fewer switches between the threads of a busy worker.

Granian's I/O thread wakes up for every response, and the kernel then interrupts the thread that
handles requests: two switches a request, and each thread finds the processor's caches filled by the
other. In the scheduling class SCHED_BATCH the I/O thread waits until the other one pauses, at most
until the next tick of the clock, and then sends several responses. But it waits for other programs,
too: so it is in that class only while its worker uses most of a core, which nobody else needs then.
"""

import os
import sys
import threading
import time
from pathlib import Path

IO_THREAD = "tokio-rt-worker"
"""Granian's name for it."""

_LOOK_EVERY_S = 0.25
_BUSY = 0.7


class IoScheduling:
    """The scheduling class of the I/O threads of this process. A class that was chosen by somebody
    else is kept.
    """

    def __init__(self) -> None:
        self._batched: list[int] = []

    def follow(self, share_of_core: float) -> None:
        """Choose the class by how much of a core this process has used."""
        if sys.platform != "linux":
            return
        is_busy = share_of_core > _BUSY
        if is_busy and not self._batched:
            threads = [it for it in _list_threads() if _name_of(it) == IO_THREAD]
            self._batched = [it for it in threads if _change(it, os.SCHED_OTHER, os.SCHED_BATCH)]
        elif not is_busy:
            for thread in self._batched:
                _change(thread, os.SCHED_BATCH, os.SCHED_OTHER)
            self._batched = []


def follow_load() -> None:
    """Let the I/O threads of this process follow its load."""
    if sys.platform == "linux":
        threading.Thread(target=_follow, name="scheduling", daemon=True).start()


def _follow() -> None:
    scheduling = IoScheduling()
    while True:
        began, used = time.monotonic(), time.process_time()
        time.sleep(_LOOK_EVERY_S)
        scheduling.follow((time.process_time() - used) / (time.monotonic() - began))


def _list_threads() -> list[int]:
    try:
        return [int(it.name) for it in Path("/proc/self/task").iterdir()]
    except OSError:  # There may be no /proc.
        return []


def _name_of(thread: int) -> str | None:
    try:
        return Path(f"/proc/self/task/{thread}/comm").read_text().strip()
    except OSError:  # It has ended.
        return None


def _change(thread: int, usual: int, wanted: int) -> bool:
    """Whether the thread was in the usual class, and is in the wanted one now."""
    if sys.platform != "linux":
        return False
    try:
        if os.sched_getscheduler(thread) != usual:
            return False
        os.sched_setscheduler(thread, wanted, os.sched_param(0))
    except OSError:  # It has ended, or a sandbox forbids it.
        return False
    return True
