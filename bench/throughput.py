"""Scenarios of the throughput of one worker."""

import json
import time
from statistics import median

from .catalogs import WIDGETS_A_SCOPE
from .client import Reply, request
from .folders import copy_of, ensure_folder, warmed
from .load import Load, run_wrk, write_requests
from .measures import BenchError, Limit, Outcome, Unit, at_least, at_most, median_ratio
from .reading import (
    SIZE,
    VERSIONS,
    compat_targets,
    everyday_targets,
    new_targets,
    reading,
    registry_targets,
)
from .rig import Rig
from .servers import Server, running_catalog
from .side_by_side import Contender, in_turns, side_by_side, survey, survey_known
from .traffic import (
    ACCEPTS_COMPRESSED,
    detail_target,
    detail_targets,
    search_target,
    version_targets,
)

# A 304 has no body, which is most of nginx's work: the bare server is the limit.
_NEAR_BARE: tuple[Limit, Unit] = (at_least(0.75), "of the bare server")
_COUNTED_WIDGETS = 1_000


def detail(rig: Rig) -> list[Outcome]:
    what = f"detail, {SIZE:,} widgets with {VERSIONS} versions each, all keys uniformly"
    with reading(rig) as catalog:
        traffic = survey(catalog, detail_targets(SIZE, SIZE))
        return [side_by_side(rig, catalog, traffic, what, at_least(0.33))]


def version(rig: Rig) -> list[Outcome]:
    what = f"version detail, one of each of {SIZE:,} widgets"
    with reading(rig) as catalog:
        traffic = survey(catalog, version_targets(SIZE, VERSIONS))
        return [side_by_side(rig, catalog, traffic, what, at_least(0.33))]


def detail_304(rig: Rig) -> list[Outcome]:
    with reading(rig) as catalog:
        traffic = survey_known(catalog, detail_targets(SIZE, SIZE))
        return [side_by_side(rig, catalog, traffic, "detail, 304", *_NEAR_BARE)]


def search(rig: Rig) -> list[Outcome]:
    what = "search, 20 results, common words, pages 1 to 3"
    return [_searching(rig, everyday_targets(), what, at_least(0.20))]


def search_hot(rig: Rig) -> list[Outcome]:
    return [_searching(rig, [search_target("clock")], "search, always the same one")]


def search_compat(rig: Rig) -> list[Outcome]:
    what = "search with compatSdk, 20 results"
    return [_searching(rig, compat_targets(), what, at_least(0.15))]


def search_new(rig: Rig) -> list[Outcome]:
    what = "search, hardly ever the same one"
    return [_searching(rig, new_targets(), what, at_most(130), "µs")]


def search_new_at(rig: Rig, size: int, wanted: Limit) -> list[Outcome]:
    """New searches in a larger catalog, with a worker of its own."""
    what = f"search, {size:,} widgets, hardly ever the same one"
    with running_catalog(rig, warmed(ensure_folder(size))) as catalog:
        survey(catalog, detail_targets(size, SIZE))
        traffic = survey(catalog, new_targets(), is_wanted=_has_20_results)
        return [side_by_side(rig, catalog, traffic, what, wanted, "µs")]


def _searching(
    rig: Rig, targets: list[str], what: str, wanted: Limit | None = None, unit: Unit = "of nginx"
) -> Outcome:
    with reading(rig) as catalog:
        traffic = survey(catalog, targets, is_wanted=_has_20_results)
        return side_by_side(rig, catalog, traffic, what, wanted, unit)


def _has_20_results(reply: Reply) -> bool:
    return len(json.loads(reply.body)["widgets"]) == 20


def registry(rig: Rig) -> list[Outcome]:
    what = f"registry of {WIDGETS_A_SCOPE} widgets, compressed"
    with reading(rig) as catalog:
        traffic = survey(catalog, registry_targets(), ACCEPTS_COMPRESSED)
        return [side_by_side(rig, catalog, traffic, what, at_least(0.33))]


def registry_304(rig: Rig) -> list[Outcome]:
    with reading(rig) as catalog:
        traffic = survey_known(catalog, registry_targets(), ACCEPTS_COMPRESSED)
        return [side_by_side(rig, catalog, traffic, "registry, 304", *_NEAR_BARE)]


def counter(rig: Rig) -> list[Outcome]:
    """Every acknowledged increment must be in the total afterwards."""
    targets = [detail_target(number) for number in range(_COUNTED_WIDGETS)]
    posts = [request(target, method="POST") for target in targets]
    file = write_requests(rig.folder / "requests-counter", posts)
    data = copy_of(ensure_folder(SIZE), rig.folder / "counted")
    with running_catalog(rig, data) as catalog:
        before = downloads_of(catalog)
        loads = [
            run_wrk(rig, catalog, file, rig.options.seconds) for _ in range(rig.options.rounds)
        ]
        time.sleep(0.5)  # Requests in flight when wrk disconnected.
        counted = downloads_of(catalog) - before
    acknowledged = sum(load.requests for load in loads)
    hung_up = rig.options.connections * len(loads)
    if not acknowledged <= counted <= acknowledged + hung_up:
        raise BenchError(f"{acknowledged:,} were acknowledged, but {counted:,} were counted.")
    p99, cpu_rate = median(it.p99_ms for it in loads), median(it.cpu_rate for it in loads)
    notes = [
        f"all {acknowledged:,} acknowledged increments are in the total",
        f"p99 {p99:.1f} ms with {rig.options.connections} connections",
        f"by time on the core {cpu_rate:,.0f}/s",
    ]
    what = f"count a download, answered after its commit, {_COUNTED_WIDGETS:,} widgets"
    rate = median(load.rate for load in loads)
    return [
        Outcome(what, rate, "/s", at_least(8_000), notes, {"p99_ms": p99, "cpu_rate": cpu_rate})
    ]


def downloads_of(catalog: Server) -> int:
    return int(json.loads(catalog.ask(request("/api/stats")).body)["downloads"])


def detail_at(
    rig: Rig, size: int, wanted: Limit | None = None, wanted_of_all: Limit | None = None
) -> list[Outcome]:
    """The rate at this size compared with the rate at 10,000, with as many different keys, then
    with all.

    Each has a separate service, whose cache has what its traffic needs.
    """
    folder = warmed(ensure_folder(size))
    outcomes = []
    for keys, about, limit in (
        (SIZE, f"{SIZE:,} different keys", wanted),
        (size, "all keys uniformly", wanted_of_all),
    ):
        with (
            running_catalog(rig, ensure_folder(SIZE)) as small,
            running_catalog(rig, folder) as large,
        ):
            targets = detail_targets(size, keys)
            # Requesting all of a million first would take minutes, and no cache could hold them.
            is_few = keys == SIZE
            asked = survey(large, targets).requests if is_few else [request(it) for it in targets]
            loads = in_turns(
                rig,
                Contender("small", small, survey(small, detail_targets(SIZE, SIZE)).requests),
                Contender("large", large, asked),
            )
        what = f"detail, {size:,} widgets, {about}"
        outcomes.append(_beside(loads["small"], loads["large"], what, limit))
    return outcomes


def _beside(small: list[Load], large: list[Load], what: str, wanted: Limit | None) -> Outcome:
    ratio = median_ratio([it.rate for it in large], [it.rate for it in small])
    cpu_ratio = median_ratio([it.cpu_rate for it in large], [it.cpu_rate for it in small])
    rate, small_rate = median(it.rate for it in large), median(it.rate for it in small)
    notes = [
        f"{rate:,.0f}/s beside {small_rate:,.0f}/s",
        f"by processor time, the client on the same core: {cpu_ratio:.2f}",
    ]
    figures = {"rate": rate, "small_rate": small_rate, "cpu_ratio": cpu_ratio}
    return Outcome(what, ratio, "of 10,000", wanted, notes, figures)
