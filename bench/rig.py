"""Rig: shared by all scenarios - the options, the cores, a temporary folder."""

import contextlib
import fcntl
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from .machine import Cores, choose_cores
from .measures import BenchError
from .options import Options

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".cache" / "bench"
_PORTS = range(8400, 8500)

T = TypeVar("T")


class Kept(contextlib.ExitStack):
    """What several scenarios use, by name: started once, and stopped at the end."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[str, Any] = {}

    def get(self, name: str, start: Callable[[], AbstractContextManager[T]]) -> T:
        if name not in self._known:
            self._known[name] = self.enter_context(start())
        known: T = self._known[name]
        return known


@dataclass(frozen=True)
class Rig:
    options: Options
    cores: Cores
    folder: Path
    kept: Kept = field(default_factory=Kept)


@contextlib.contextmanager
def set_up(options: Options) -> Iterator[Rig]:
    """One bench at a time: two would only measure each other."""
    if sys.platform != "linux":
        raise BenchError("The bench runs on Linux only: it reads /proc and keeps to cores.")
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BenchError("Another bench is running in this folder.") from None
        for left in CACHE.glob("passing-*"):  # Left by a killed run.
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=CACHE, prefix="passing-") as folder:
            rig = Rig(options, choose_cores(), Path(folder))
            with rig.kept:
                yield rig


def free_port() -> int:
    for port in _PORTS:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError):
                probe.bind(("127.0.0.1", port))
                return port
    raise BenchError(f"No port from {_PORTS.start} to {_PORTS.stop - 1} is free.")


def say(text: str) -> None:
    """For the person who waits; results go to standard output."""
    print(text, file=sys.stderr, flush=True)
