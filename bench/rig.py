"""Rig: shared by all scenarios - the options, the cores, a temporary folder."""

import contextlib
import fcntl
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .machine import Cores, choose_cores
from .measures import BenchError
from .options import Options

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".cache" / "bench"
_PORTS = range(8400, 8500)


@dataclass(frozen=True)
class Rig:
    options: Options
    cores: Cores
    folder: Path


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
            yield Rig(options, choose_cores(), Path(folder))


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
