"""Gives back what a process has mapped of the replica.

Each page that was read once counts as memory of the process until the system needs it for
something else: a worker would seem to take as much as the replica is large. Given back, the
pages stay in the system's file cache, and to read one again takes a microsecond more.
"""

import ctypes
import sys
from pathlib import Path

_MOST_BYTES = 64 << 20
_MADV_DONTNEED = 4


def release_mapped(folder: Path, most_bytes: int = _MOST_BYTES) -> None:
    """Give back the replica in this folder if more than so much is mapped of all files.

    Readers need not know: the mapping stays, and is read-only.
    """
    if sys.platform != "linux" or _mapped_bytes() <= most_bytes:
        return
    madvise = ctypes.CDLL(None).madvise
    for start, size in _mappings(str(folder.resolve())):
        madvise(ctypes.c_void_p(start), ctypes.c_size_t(size), _MADV_DONTNEED)


def _mapped_bytes() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(it.split()[1]) << 10 for it in lines if it.startswith("RssFile:"))


def _mappings(folder: str) -> list[tuple[int, int]]:
    """Where the files in this folder are mapped that are only read, and how large that is."""
    found = []
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, rights, *_, path = line.split(maxsplit=5)
        if rights == "r--s" and path.startswith(f"{folder}/"):
            start, end = (int(it, 16) for it in addresses.split("-"))
            found.append((start, end - start))
    return found
