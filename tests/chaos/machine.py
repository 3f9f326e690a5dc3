"""The service's machine: a small disk that can be filled, and a clock that can jump."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from support.disks import UNSHARE, may_mount

_LIBRARIES = (
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/faketime/libfaketimeMT.so.1",
)
_INSIDE = "CHAOS_INSIDE"
CLOCK_MODULES = Path(__file__).parent / "clock"


def enter_mount_namespace() -> bool:
    """Re-executes in a private mount namespace; False if that is not allowed."""
    if os.environ.get(_INSIDE):
        return True
    if not may_mount():
        return False
    os.environ[_INSIDE] = "1"
    command = [*UNSHARE, sys.executable, "-m", "chaos", *sys.argv[1:]]
    return os.execvp(command[0], command)


class Disk:
    """A separate file system for the data folder."""

    def __init__(self, folder: Path, size_mb: int) -> None:
        folder.mkdir(parents=True)
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size_mb}m", "none", str(folder)]
        subprocess.run(mount, check=True)
        self._filler = folder / "filler"

    def fill(self) -> None:
        with self._filler.open("wb", buffering=0) as file:
            for size in (1 << 20, 1 << 12, 1):
                with contextlib.suppress(OSError):
                    while file.write(bytes(size)):
                        pass

    def make_room(self) -> None:
        self._filler.unlink(missing_ok=True)


class Clock:
    """The service's clock: libfaketime reads the offset from a file."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "clock-offset"
        self.set(0)

    @property
    def environment(self) -> Mapping[str, str]:
        return {
            "LD_PRELOAD": _library(),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            # In seconds: how often the file is read. Reading it whenever somebody asks for the time
            # takes more CPU time than all the rest.
            "FAKETIME_CACHE_DURATION": "1",
            # Setting a clock affects neither the monotonic clock nor file times.
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_FORCE_MONOTONIC_FIX": "0",
            "NO_FAKE_STAT": "1",
            "FAKETIME_DISABLE_SHM": "1",
            "PYTHONPATH": str(CLOCK_MODULES),
        }

    def set(self, offset_s: int) -> None:
        # Atomic, because it is read at any moment.
        written = self._file.with_suffix(".new")
        written.write_text(f"{offset_s:+d}")
        written.rename(self._file)


def can_set_clock() -> bool:
    return any(map(os.path.exists, _LIBRARIES))


def _library() -> str:
    return next(filter(os.path.exists, _LIBRARIES))
