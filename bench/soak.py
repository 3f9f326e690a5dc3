"""Soak: mixed traffic for minutes or hours. Errors, lost counts or growing memory fail it."""

import json
import multiprocessing
import time
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import replace

from .folders import copy_of, ensure_folder
from .machine import ANYWHERE, Memory, memory_of, stay_on
from .measures import Histogram
from .rig import Rig, say
from .servers import Server, running_catalog
from .soak_client import SHARES, Tally, send_traffic
from .throughput import downloads_of

_CLIENTS = 4
# Caches fill in the first half; what grows by more than this in the second is a leak.
_GROWTH, _GROWTH_MB = 1.05, 5.0
_LONG_ENOUGH_S = 5 * 60


def run(rig: Rig, minutes: float) -> bool:
    """Whether everything held; prints the results."""
    options = rig.options
    if options.workers > 1:
        rig = replace(rig, cores=ANYWHERE)
    data = copy_of(ensure_folder(options.widgets), rig.folder / "soaked")
    say(f"Soaking {options.widgets:,} widgets for {minutes:g} minutes: {_mix()}.")
    with running_catalog(rig, data, options.workers) as catalog:
        pids = catalog.worker_pids()
        counted_before = downloads_of(catalog)
        memory = [_memory(catalog)]
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(_CLIENTS, spawn, stay_on, (rig.cores.client,)) as pool:
            seconds = minutes * 60
            running = [
                pool.submit(send_traffic, catalog.port, options.widgets, seed, seconds)
                for seed in range(_CLIENTS)
            ]
            time.sleep(seconds / 2)
            memory.append(_memory(catalog))
            tally = _merged(running)
        memory.append(_memory(catalog))
        errors = _errors(tally) + (_growth(memory) if seconds >= _LONG_ENOUGH_S else [])
        counted = downloads_of(catalog) - counted_before
        if counted != tally.acknowledged:
            errors.append(f"{tally.acknowledged:,} counts acknowledged, {counted:,} counted")
        if catalog.worker_pids() != pids:
            errors.append("a worker ended and was started again")
    report = _as_json(tally, memory, seconds, errors) if options.json else None
    print(report or _as_text(tally, memory, seconds, errors))
    return not errors


def _mix() -> str:
    return ", ".join(f"{kind} {share} %" for kind, share in SHARES.items())


def _memory(catalog: Server) -> list[Memory]:
    return [memory_of(pid) for pid in catalog.worker_pids()]


def _merged(running: list["Future[Tally]"]) -> Tally:
    whole = Tally()
    for process in running:
        part = process.result()
        for kind, histogram in part.times_ms.items():
            whole.times_ms.setdefault(kind, Histogram()).merge(histogram)
        whole.acknowledged += part.acknowledged
        whole.errors += part.errors
        whole.examples += part.examples
    return whole


def _errors(tally: Tally) -> list[str]:
    return [f"{tally.errors:,} errors, such as: {tally.examples[0]}"] if tally.errors else []


def _growth(memory: list[list[Memory]]) -> list[str]:
    _, middle, after = memory
    return [
        f"worker {number} grew from {then.rss:,.0f} to {now.rss:,.0f} MB in the second half"
        for number, (then, now) in enumerate(zip(middle, after, strict=False), start=1)
        if now.rss > then.rss * _GROWTH + _GROWTH_MB
    ]


def _as_text(tally: Tally, memory: list[list[Memory]], seconds: float, errors: list[str]) -> str:
    lines = [f"{'':12}{'requests':>12}{'a second':>10}{'p50 ms':>9}{'p99 ms':>9}{'most ms':>9}"]
    for kind, times in tally.times_ms.items():
        lines.append(
            f"{kind:12}{times.count:>12,}{times.count / seconds:>10,.0f}"
            f"{times.percentile(0.5):>9.2f}{times.percentile(0.99):>9.2f}{times.most:>9.1f}"
        )
    total = sum(times.count for times in tally.times_ms.values())
    lines.append(f"{'together':12}{total:>12,}{total / seconds:>10,.0f}")
    lines.append(f"errors: {tally.errors:,}; counts acknowledged: {tally.acknowledged:,}")
    for number, worker in enumerate(zip(*memory, strict=False), start=1):
        figures = ", ".join(
            f"{when} {sample.rss:,.0f} MB"
            for when, sample in zip(("before", "in the middle", "after"), worker, strict=True)
        )
        lines.append(f"memory of worker {number}: {figures}")
    steady = "steady" if seconds >= _LONG_ENOUGH_S else "not judged in less than 5 minutes"
    held = f"✓ No errors, no count lost, no worker lost; memory {steady}."
    lines += [f"✗ {error}" for error in errors] or [held]
    return "\n".join(lines)


def _as_json(tally: Tally, memory: list[list[Memory]], seconds: float, errors: list[str]) -> str:
    kinds = {
        kind: {
            "requests": times.count,
            "rate": round(times.count / seconds, 1),
            "p50Ms": round(times.percentile(0.5), 3),
            "p99Ms": round(times.percentile(0.99), 3),
            "mostMs": round(times.most, 3),
        }
        for kind, times in tally.times_ms.items()
    }
    body = {
        "seconds": seconds,
        "kinds": kinds,
        "errors": tally.errors,
        "acknowledged": tally.acknowledged,
        "workerMemoryMb": [[round(it.rss, 1) for it in some] for some in memory],
        "faults": errors,
    }
    return json.dumps(body, indent=2)
