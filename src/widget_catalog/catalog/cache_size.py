"""How much memory the caches of a worker may take."""

import contextlib
import os
from pathlib import Path

from ..core.data_folder import DataFolder
from ..core.settings import Settings
from .replica.file import find_current
from .settings import CatalogSettings

_USUAL_BYTES = 80 << 20
# For a catalog that fits: at most this much, and this share of the memory for all workers.
_MAX_BYTES = 256 << 20
_SHARE_OF_MEMORY = 16
# Details, search results, registries and results of `resolve` take about twice as much as the
# replica.
_OF_REPLICA = 2


def choose_cache_bytes(settings: Settings) -> int:
    """As set; or enough for the whole catalog, if that is not too much; or else the usual."""
    if given := settings.of(CatalogSettings).cache_mb:
        return given << 20
    current = find_current(DataFolder(settings.data).replica)
    try:
        whole = 0 if current is None else _OF_REPLICA * current.stat().st_size
    except OSError:  # It has just been replaced.
        whole = 0
    allowed = min(_MAX_BYTES, memory_bytes() // _SHARE_OF_MEMORY // settings.workers)
    return whole if _USUAL_BYTES < whole <= allowed else _USUAL_BYTES


def memory_bytes(control_groups: Path = Path("/sys/fs/cgroup")) -> int:
    """The memory of this machine, or of the container or service that this process runs in."""
    limits: list[int | None] = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            if line.startswith("0::/"):
                own = control_groups / line.removeprefix("0::/")
                limits += [_limit_of(it) for it in (own, *own.parents)]
    return min(it for it in limits if it is not None)


def _limit_of(control_group: Path) -> int | None:
    try:
        return int((control_group / "memory.max").read_text())
    except (OSError, ValueError):  # There is none, or it is "max".
        return None
