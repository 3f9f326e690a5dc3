"""Where the time of a request goes, without a network: the handler alone, in this process."""

import asyncio
import cProfile
import time
from collections.abc import Sequence
from statistics import fmean
from types import CodeType

from widget_catalog.app.features import install_features
from widget_catalog.app.worker import build_worker
from widget_catalog.catalog.node.node import prepare_node
from widget_catalog.core.http.http import PlainRequest, Request, SentBody, Worker
from widget_catalog.core.settings import Settings

from .folders import ensure_folder
from .measures import BenchError, percentile
from .traffic import SDKS, detail_targets, ever_new_searches, registry_target, search_target

_ASKED_OFTEN = 200
_REPEATS = 20
_SHOWN = 18


def run(kind: str, widgets: int) -> None:
    """Print the time of each way through, then the functions of the two main ones."""
    install_features()
    folder = ensure_folder(widgets)
    prepare_node(folder).store.close()
    asyncio.run(_run(kind, Settings(data=folder)))


async def _run(kind: str, settings: Settings) -> None:
    widgets = int(settings.data.name)
    ways = _ways(kind, widgets)
    worker = build_worker(settings)
    try:
        print(f"{widgets:,} widgets; microseconds a request{'':20}{'p50':>9}{'mean':>9}{'p99':>9}")
        # Half of the new requests are timed, half are profiled.
        for name, requests in ways.items():
            often = requests[: min(_ASKED_OFTEN, len(requests) // 10)]
            _print_times(f"{name}, for the first time", await _times_us(worker, requests[::2]))
            await _times_us(worker, often)
            _print_times(f"{name}, again", await _times_us(worker, often * _REPEATS))
        for name, requests in ways.items():
            often = requests[: min(_ASKED_OFTEN, len(requests) // 10)]
            await _profile(f"{name}, for the first time", worker, requests[1::2])
            await _times_us(worker, often)
            await _profile(f"{name}, again", worker, often * _REPEATS)
    finally:
        worker.close()


def _ways(kind: str, widgets: int) -> dict[str, list[Request]]:
    """The requests by name, all of them different."""
    # First pages only: a second page benefits from what the first has cached.
    terms = [q for q, page in ever_new_searches() if page == 1]
    match kind:
        case "detail":
            ways = {"detail": detail_targets(widgets, 10_000)}
        case "registry":
            ways = {"registry": [registry_target(number) for number in range(0, widgets, 100)]}
        case _:
            ways = {
                "search": [search_target(q) for q in terms[::2]],
                "search with compatSdk": [search_target(q, sdk=SDKS[1]) for q in terms[1::2]],
            }
    return {name: [_request(target) for target in targets] for name, targets in ways.items()}


def _request(target: str) -> Request:
    path, _, query = target.partition("?")
    return PlainRequest("GET", path, query, {}, "127.0.0.1:1")


async def _times_us(worker: Worker, requests: Sequence[Request]) -> list[float]:
    times = []
    for request in requests:
        began = time.perf_counter_ns()
        response = await worker.respond(request, SentBody())
        times.append((time.perf_counter_ns() - began) / 1e3)
        if response.status != 200:
            raise BenchError(f"{request.path} is answered with {response.status}.")
    return times


def _print_times(name: str, times_us: Sequence[float]) -> None:
    p50, p99 = percentile(times_us, 0.5), percentile(times_us, 0.99)
    print(f"  {name:<50}{p50:>9.1f}{fmean(times_us):>9.1f}{p99:>9.1f}")


async def _profile(name: str, worker: Worker, requests: Sequence[Request]) -> None:
    """The profiler itself costs about as much again: read shares, not sums."""
    profiler = cProfile.Profile()
    profiler.enable()
    for request in requests:
        await worker.respond(request, SentBody())
    profiler.disable()
    print(f"\n{name}: µs a request under the profiler\n{'self':>8}{'with callees':>14}{'calls':>8}")
    entries = sorted(profiler.getstats(), key=lambda it: it.inlinetime, reverse=True)
    for entry in entries[:_SHOWN]:
        own, whole = (
            seconds * 1e6 / len(requests) for seconds in (entry.inlinetime, entry.totaltime)
        )
        print(f"{own:8.2f}{whole:14.2f}{entry.callcount / len(requests):8.1f}  {_name(entry.code)}")
    print()


def _name(code: CodeType | str) -> str:
    if isinstance(code, str):
        return code
    module = code.co_filename.rsplit("/", 2)
    return f"{'/'.join(module[-2:])}:{code.co_firstlineno} {code.co_qualname}"
