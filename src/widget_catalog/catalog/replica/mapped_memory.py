"""Unmaps pages of the replica that a process has mapped.

Each page that was read counts as resident memory of the process until the system reclaims it: a
worker would appear to use as much memory as the replica is large. Unmapped pages stay in the page
cache, and reading one again takes a microsecond more.
"""

import ctypes
import sys
from pathlib import Path

_MAX_BYTES = 64 << 20
_MADV_DONTNEED = 4


def release_mapped(folder: Path, most_bytes: int = _MAX_BYTES) -> None:
    """Unmap the replica in this folder if more than this much of all files is mapped.

    This is transparent to readers: the mapping stays, and is read-only.
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
    """Address and size of the read-only mappings of files in this folder."""
    found = []
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, rights, *_, path = line.split(maxsplit=5)
        if rights == "r--s" and path.startswith(f"{folder}/"):
            start, end = (int(it, 16) for it in addresses.split("-"))
            found.append((start, end - start))
    return found
