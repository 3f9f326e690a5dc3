"""The machine: its cores, the memory of a process, and a description."""

import contextlib
import os
import platform
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, Self


class Cores(NamedTuple):
    """The cores of servers and clients. None: any, because they cannot be separated."""

    server: int | None
    client: int | None

    @property
    def are_apart(self) -> bool:
        return self.server is not None

    @property
    def together(self) -> "Cores":
        """The client on the server's own core."""
        return Cores(self.server, self.server)


ANYWHERE = Cores(None, None)


def choose_cores() -> Cores:
    if not hasattr(os, "sched_getaffinity") or shutil.which("taskset") is None:
        return ANYWHERE
    usable = sorted(os.sched_getaffinity(0))
    return Cores(usable[0], usable[1]) if len(usable) > 1 else ANYWHERE


def on_core(core: int | None, command: Sequence[str]) -> list[str]:
    """The command, pinned to one core with all the processes it starts."""
    return [*command] if core is None else ["taskset", "--cpu-list", str(core), *command]


def stay_on(core: int | None) -> None:
    """Pin this process to one core."""
    if core is not None:
        os.sched_setaffinity(0, {core})


class Memory(NamedTuple):
    """Of one process, in MB. `shared` is the part of `rss` that other processes map too.

    In `pss` it is divided by the number of these: the sum over all processes is what they take.
    `own` is the part of that which no file holds.
    """

    rss: float
    shared: float
    pss: float
    own: float


def memory_of(pid: int) -> Memory:
    rollup: dict[str, int] = {}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
        name, value, *_ = line.split()
        rollup[name.rstrip(":")] = int(value)
    shared = rollup["Shared_Clean"] + rollup["Shared_Dirty"]
    in_mb = (rollup["Rss"], shared, rollup["Pss"], rollup["Pss_Anon"])
    return Memory(*(kb / 1024 for kb in in_mb))


def cpu_seconds_of(pids: Iterable[int]) -> float:
    """The CPU time of these processes so far."""
    ticks = 0
    for pid in pids:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(after_name[11]) + int(after_name[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def whole_cpu_s(pid: int) -> float:
    """The CPU time of a process, its current children, and all ended ones that were waited for."""
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    seconds = sum(map(int, after_name[11:15])) / os.sysconf("SC_CLK_TCK")
    for child in children_of(pid):
        # The process has just ended.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            seconds += cpu_seconds_of([child])
    return seconds


class CoreClock:
    """How long the threads of a process have been on a core, to the microsecond.

    For single requests, where `cpu_seconds_of` is too coarse. What else runs on the machine
    makes a request wait, but hardly lengthens this.
    """

    def __init__(self, pid: int) -> None:
        tasks = Path(f"/proc/{pid}/task").iterdir()
        self._files = [os.open(task / "schedstat", os.O_RDONLY) for task in tasks]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files:
            os.close(file)

    def read_ms(self) -> float:
        return sum(int(os.pread(file, 64, 0).split()[0]) for file in self._files) / 1e6


def children_of(pid: int) -> list[int]:
    return [int(it) for it in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def load_average() -> float:
    return os.getloadavg()[0]


def describe() -> dict[str, str]:
    """What readers of the figures need to know about the machine, without identifying it."""
    pages, page_bytes = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return {
        "cores": str(os.cpu_count()),
        "architecture": platform.machine(),
        "processor": _processor(),
        "memory": f"{pages * page_bytes / 2**30:.0f} GB",
        "system": f"{platform.system()} {platform.release().split('-')[0]}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }


def _processor() -> str:
    """Its model name; Arm's kernel does not report it, but `lscpu` does."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    if program := shutil.which("lscpu"):
        lines += subprocess.run([program], capture_output=True, text=True).stdout.splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.lower().startswith("model n")]
    return next((name for name in names if name.strip("-")), "not stated")
