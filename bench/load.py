"""Load by wrk: many connections, each request chosen at random from a prepared list."""

import resource
import shutil
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from .machine import cpu_seconds_of, on_core
from .measures import BenchError
from .rig import Rig
from .servers import Server

_BETWEEN = b"\1"
_SCRIPT = """
local requests = {}

function init(args)
  math.randomseed(tonumber(args[2]))
  local file = assert(io.open(args[1], "rb"))
  for request in file:read("*a"):gmatch("[^\\1]+") do requests[#requests + 1] = request end
  file:close()
end

function request()
  return requests[math.random(#requests)]
end

function done(summary, latency)
  local errors = summary.errors
  local lost = errors.connect + errors.read + errors.write + errors.timeout
  print("DONE", summary.requests, summary.duration, summary.bytes, errors.status, lost,
        latency:percentile(50), latency:percentile(99))
end
"""


class Load(NamedTuple):
    """What a run of wrk found.

    `rate` is by the clock; `cpu_rate` is by the CPU time of the worker, which other work on the
    machine hardly touches. `client_share` is how busy wrk was, from 0 to 1.
    """

    rate: float
    cpu_rate: float
    requests: int
    bytes_each: float
    p50_ms: float
    p99_ms: float
    client_share: float

    @property
    def cpu_us(self) -> float:
        """The CPU time of a request."""
        return 1e6 / self.cpu_rate


def write_requests(path: Path, requests: Iterable[bytes]) -> Path:
    path.write_bytes(_BETWEEN.join(requests))
    return path


def run_wrk(rig: Rig, server: Server, requests: Path, seconds: int) -> Load:
    """Load a server; raises BenchFault if a single response is lost or is 4xx or 5xx."""
    if shutil.which("wrk") is None:
        raise BenchError("wrk is not installed.")
    script = rig.folder / "requests.lua"
    if not script.exists():
        script.write_text(_SCRIPT)
    command = ["wrk", "--threads", "1", "--connections", str(rig.options.connections)]
    command += ["--duration", f"{seconds}s", "--timeout", "10s", "--script", str(script)]
    # A different random order each time: a FIFO cache performs worst if the same requests are
    # repeated in the same order.
    seed = str(time.monotonic_ns() % 1_000_000_007)
    command += [f"http://127.0.0.1:{server.port}/", "--", str(requests), seed]
    serving = server.serving_pids()
    served_before = cpu_seconds_of(serving)
    busy_before, before = _children_cpu_s(), time.monotonic()
    done = subprocess.run(
        on_core(rig.cores.client, command), capture_output=True, text=True, timeout=seconds + 120
    )
    took_s, busy_s = time.monotonic() - before, _children_cpu_s() - busy_before
    served_s = cpu_seconds_of(serving) - served_before
    line = next((it for it in done.stdout.splitlines() if it.startswith("DONE\t")), None)
    if done.returncode or line is None:
        raise BenchError(f"wrk failed: {(done.stderr or done.stdout).strip()}")
    count, micros, size, refused, lost, p50, p99 = map(float, line.split("\t")[1:])
    if refused or lost or not count:
        raise BenchError(
            f"Of {count:.0f} requests {refused:.0f} were refused and {lost:.0f} got no answer."
        )
    return Load(
        rate=count / (micros / 1e6),
        cpu_rate=count / max(served_s, 0.01),
        requests=int(count),
        bytes_each=size / count,
        p50_ms=p50 / 1e3,
        p99_ms=p99 / 1e3,
        client_share=min(busy_s / took_s, 1.0),
    )


def _children_cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
