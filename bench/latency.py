"""Latency of single searches in a large catalog, for one client."""

import contextlib
import gc
import os
import random
import time
from collections.abc import Iterator

from .client import Connection, request
from .folders import ensure_folder, warmed
from .machine import CoreClock, stay_on
from .measures import BenchError, Limit, Outcome, percentile
from .rig import Rig
from .servers import running_catalog
from .traffic import search_target, terms_by_kind

_WARM_UP = 20


class _Times:
    """Of one kind of request, in milliseconds: by the client's clock, and on the server's core."""

    def __init__(self) -> None:
        self.waited: list[float] = []
        self.on_core: list[float] = []

    def __str__(self) -> str:
        p50, p99 = percentile(self.waited, 0.5), percentile(self.waited, 0.99)
        core_p50, core_p99 = percentile(self.on_core, 0.5), percentile(self.on_core, 0.99)
        return (
            f"p50 {p50:.2f}, p99 {p99:.2f}, most {max(self.waited):.2f} ms; on the server's core "
            f"p50 {core_p50:.2f}, p99 {core_p99:.2f} ms"
        )


def search_p99(rig: Rig, size: int, wanted: Limit | None = None) -> list[Outcome]:
    """The worst kind counts. The times are the client's, and include the network."""
    kinds = terms_by_kind(size)
    asked = [(kind, request(search_target(term))) for kind, some in kinds.items() for term in some]
    random.Random(0).shuffle(asked)
    nothing = request("/api/version")
    times = {kind: _Times() for kind in kinds}
    floor = _Times()
    os.sync()  # Pending writes must not be flushed to disk during the measurement.
    with (
        running_catalog(rig, warmed(ensure_folder(size))) as catalog,
        Connection(catalog.port) as client,
        CoreClock(*catalog.worker_pids()) as core,
    ):
        for number in range(_WARM_UP):
            client.ask(request(search_target(f"warm{number}")))
        with _alone_on(rig.cores.client):
            for kind, raw in asked:
                _ask(client, core, raw, times[kind])
                # Work that the server does after a search must not be attributed to the next one.
                _ask(client, core, nothing, floor)
    p99s = {kind: percentile(some.waited, 0.99) for kind, some in times.items()}
    worst = max(p99s, key=p99s.__getitem__)
    notes = [f"{kind} ({len(kinds[kind]):,}): {some}" for kind, some in times.items()]
    notes.append(f"a request for nothing: {floor}")
    what = f"search, {size:,} widgets, one client, p99 of the worst kind ({worst})"
    figures = {f"{kind}_p99_ms": p99 for kind, p99 in p99s.items()}
    figures |= {f"{kind}_p50_ms": percentile(it.waited, 0.5) for kind, it in times.items()}
    figures |= {f"{kind}_core_p99_ms": percentile(it.on_core, 0.99) for kind, it in times.items()}
    return [Outcome(what, p99s[worst], "ms", wanted, notes, figures)]


def _ask(client: Connection, core: CoreClock, raw: bytes, times: _Times) -> None:
    core_began, began = core.read_ms(), time.perf_counter()
    reply = client.ask(raw)
    times.waited.append((time.perf_counter() - began) * 1e3)
    times.on_core.append(core.read_ms() - core_began)
    if reply.status != 200:
        raise BenchError(f"{raw.decode()!r} is answered with {reply.status}.")


@contextlib.contextmanager
def _alone_on(core: int | None) -> Iterator[None]:
    """Pin this process to one core, without its garbage collector."""
    before = os.sched_getaffinity(0)
    stay_on(core)
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        os.sched_setaffinity(0, before)
