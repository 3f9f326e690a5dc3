"""Scenarios of public pages: cached, rendered for the first time, and read by a crawler."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean, median

from .client import Connection, request
from .folders import ensure_folder, warmed
from .load import run_wrk, write_requests
from .machine import CoreClock
from .measures import (
    BenchError,
    Histogram,
    Limit,
    Outcome,
    at_least,
    at_most,
    median_ratio,
    percentile,
)
from .reading import (
    PAGES,
    SIZE,
    VERSIONS,
    everyday_targets,
    new_targets,
    reading,
    widget_page_targets,
)
from .rig import Rig
from .servers import Server, running_bare, running_catalog
from .side_by_side import side_by_side, survey
from .traffic import (
    detail_target,
    detail_targets,
    page_target,
    search_target,
    terms_by_kind,
    version_targets,
)

_FIRST = 400
_WARM_UP = 20
_WARMING = ("", "widget", "wether", "scope")
_VISITS_A_SECOND = 100
_LONGEST_WAIT_MS = 10


def pages(rig: Rig) -> list[Outcome]:
    """As requested by visitors: uncompressed, and each more than once."""
    kinds = {
        "front page": ["/"],
        "search page, common words": list(map(page_target, everyday_targets())),
        f"widget page, {PAGES} widgets": widget_page_targets(),
    }
    with reading(rig) as catalog:
        return [
            side_by_side(rig, catalog, survey(catalog, targets), what, at_least(0.05))
            for what, targets in kinds.items()
        ]


def first_renderings(rig: Rig) -> list[Outcome]:
    """The CPU time of pages that were not requested before, one after the other."""
    searches = list(map(page_target, new_targets()[: _FIRST + _WARM_UP]))
    with reading(rig) as catalog:
        return [
            _rendered(catalog, "search page", searches, at_most(1)),
            _rendered(catalog, "widget page", _widget_pages(_FIRST + _WARM_UP)),
        ]


def searched_for_the_first_time(rig: Rig, size: int, wanted: Limit | None = None) -> list[Outcome]:
    """Search pages of a catalog with keywords and READMEs, in turn with the bare server, which
    sends the same bytes: words of each kind, none of them twice.
    """
    kinds = {**terms_by_kind(size, _FIRST // 2), "unknown": [f"qx{it}zv" for it in range(100)]}
    del kinds["two-letter"]
    times: dict[str, list[float]] = {kind: [] for kind in kinds}
    floor = []
    with running_catalog(rig, warmed(ensure_folder(size, has_texts=True))) as catalog:
        body = catalog.ask(request("/search?q=clock")).body
        with (
            running_bare(rig, 200, body) as bare,
            Connection(catalog.port) as client,
            Connection(bare.port) as other,
            CoreClock(*catalog.worker_pids()) as core,
            CoreClock(*bare.serving_pids()) as bare_core,
        ):
            for word in _WARMING:
                _visit(client, page_target(search_target(word)))
            for kind, words in kinds.items():
                for word in words:
                    times[kind].append(_on_core(core, client, page_target(search_target(word))))
                    floor.append(_on_core(bare_core, other, "/body"))
    return [
        Outcome(
            f"search page, {size:,} widgets, rendered for the first time, {kind} words, CPU",
            median(some),
            "ms",
            wanted,
            [f"{median(some) / median(floor):.0f} times the bare server's {median(floor):.3f} ms"],
            {"p99_ms": percentile(some, 0.99), "bare_ms": median(floor)},
        )
        for kind, some in times.items()
    ]


def _on_core(core: CoreClock, client: Connection, target: str) -> float:
    began = core.read_ms()
    _visit(client, target)
    return core.read_ms() - began


def _widget_pages(count: int) -> list[str]:
    """From the end of the catalog: other scenarios request those at its beginning."""
    return [page_target(detail_target(SIZE - 1 - number)) for number in range(count)]


def _rendered(
    catalog: Server, kind: str, targets: Sequence[str], wanted: Limit | None = None
) -> Outcome:
    with Connection(catalog.port) as client:
        for target in targets[:_WARM_UP]:
            _visit(client, target)
        with CoreClock(*catalog.worker_pids()) as core:
            times = [_on_core(core, client, target) for target in targets[_WARM_UP:]]
    figures = {"p50_ms": percentile(times, 0.5), "p99_ms": percentile(times, 0.99)}
    notes = [f"CPU p50 {figures['p50_ms']:.2f}, p99 {figures['p99_ms']:.2f} ms of {len(times):,}"]
    what = f"{kind}, rendered for the first time, CPU"
    return Outcome(what, fmean(times), "ms", wanted, notes, figures)


def _visit(client: Connection, target: str) -> None:
    if (status := client.ask(request(target)).status) != 200:
        raise BenchError(f"{target} is answered with {status}.")


def crawler(rig: Rig) -> list[Outcome]:
    """A crawler requests every page once, as fast as it gets them over one connection, while
    visitors read details and pages that are cached.

    It may delay a visitor by the pages that are rendered meanwhile, and must not displace what
    visitors read: the CPU time of a detail is compared before and after.
    """
    details = [request(it) for it in detail_targets(SIZE, SIZE)]
    file = write_requests(rig.folder / "requests-crawled", details)
    rounds = range(rig.options.rounds)
    with reading(rig) as catalog:
        survey(catalog, detail_targets(SIZE, SIZE))
        survey(catalog, widget_page_targets())
        run_wrk(rig, catalog, file, rig.options.seconds)
        before = [run_wrk(rig, catalog, file, rig.options.seconds) for _ in rounds]
        quiet = _visitors(catalog, 2 * rig.options.seconds)
        with _crawling(catalog) as crawled:
            busy = _visitors(catalog, 4 * rig.options.seconds)
            pages = crawled()
        after = [run_wrk(rig, catalog, file, rig.options.seconds) for _ in rounds]
    ratio = median_ratio([it.cpu_rate for it in after], [it.cpu_rate for it in before])
    waits = (quiet.percentile(0.99), busy.percentile(0.5), busy.percentile(0.99))
    notes = [
        f"without a crawler {waits[0]:.1f} ms; with it p50 {waits[1]:.1f}, most {busy.most:.1f} ms",
        f"{pages:,} pages crawled meanwhile, {pages / (4 * rig.options.seconds):,.0f} a second",
    ]
    cpu = [median(it.cpu_us for it in some) for some in (after, before)]
    return [
        Outcome(
            "a visitor while a crawler requests every page, p99",
            waits[2],
            "ms",
            at_most(_LONGEST_WAIT_MS),
            notes,
        ),
        Outcome(
            "detail after the crawler, by CPU time",
            ratio,
            "of quiet",
            at_least(0.90),
            [f"{cpu[0]:.0f} µs after, {cpu[1]:.0f} µs before"],
        ),
    ]


@contextlib.contextmanager
def _crawling(catalog: Server) -> Iterator[Callable[[], int]]:
    """Request pages until the end; returns how many there were."""
    is_over = threading.Event()
    statuses: list[int] = []
    pages = [*detail_targets(SIZE, SIZE), *version_targets(SIZE, VERSIONS)]
    targets = [page_target(it) for it in pages[PAGES:]]

    def crawl() -> None:
        with Connection(catalog.port) as client:
            for target in targets:
                if is_over.is_set():
                    return
                statuses.append(client.ask(request(target)).status)

    thread = threading.Thread(target=crawl)
    thread.start()
    try:
        yield lambda: len(statuses)
    finally:
        is_over.set()
        thread.join()
    if errors := [it for it in statuses if it != 200]:
        raise BenchError(f"A page is answered with {errors[0]}.")


def _visitors(catalog: Server, seconds: int) -> Histogram:
    """Details and cached pages in turn, at a fixed rate; how long each took, in ms."""
    times = Histogram()
    targets = [*map(detail_target, range(PAGES)), *widget_page_targets()]
    began = time.perf_counter()
    with Connection(catalog.port) as client:
        for number in range(seconds * _VISITS_A_SECOND):
            due = began + number / _VISITS_A_SECOND
            time.sleep(max(0.0, due - time.perf_counter()))
            sent = time.perf_counter()
            _visit(client, targets[number * 37 % len(targets)])
            times.add((time.perf_counter() - sent) * 1e3)
    return times
