"""Every scenario by name, with its target."""

from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import partial
from typing import NamedTuple

from . import (
    counting,
    footprint,
    importing,
    latency,
    nodes,
    pages,
    publishing,
    streaming,
    throughput,
)
from .measures import BenchError, Outcome
from .options import Options
from .rig import Rig

_LARGE, _MILLION = 100_000, 1_000_000
_IMPORTED = 60_000


class Scenario(NamedTuple):
    name: str
    about: str
    run: Callable[[Rig], list[Outcome]]
    is_million: bool = False


SCENARIOS = (
    Scenario("detail", "10,000 widgets, all keys: at least 0.33 of nginx", throughput.detail),
    Scenario("detail-8", "10,000 widgets with 8 versions each: 0.33", throughput.detail_8),
    Scenario("version", "all about one version of each widget: 0.33", throughput.version),
    Scenario(
        "detail-counting",
        "detail while downloads are counted: at least 0.80 of the rate without",
        partial(counting.detail_counting, size=throughput.SIZE),
    ),
    Scenario("detail-304", "the same, known already: 0.38", throughput.detail_304),
    Scenario("search", "20 results, common words: 0.20", throughput.search),
    Scenario("search-compat", "with compatSdk: 0.15", throughput.search_compat),
    Scenario("search-hot", "always the same search", throughput.search_hot),
    Scenario("search-new", "hardly ever the same search: 0.10", throughput.search_new),
    Scenario(
        "search-counting",
        "search while downloads are counted: at least 0.80 of the rate without",
        partial(counting.search_counting, size=throughput.SIZE),
    ),
    Scenario("registry", "100 widgets, compressed: 0.33", throughput.registry),
    Scenario("registry-304", "the same, known already: 0.38", throughput.registry_304),
    Scenario("pages", "front, search and widget pages: 0.05", pages.pages),
    Scenario("counter", "answered after commit: 8,000 a second", throughput.counter),
    Scenario("publish", "a bundle of 1 MB: at most 150 ms", publishing.publish),
    Scenario(
        "detail-publishing",
        "detail during publishes: at least 0.80 of the rate without",
        publishing.detail_publishing,
    ),
    Scenario(
        "changes",
        "1,000 event streams: a change within 500 ms, 60 MB, reads at 0.80 of quiet",
        streaming.changes,
    ),
    Scenario(
        "resolve",
        "100 of 10,000 widgets: at most 2 ms of the core",
        partial(streaming.resolve, size=throughput.SIZE),
    ),
    Scenario("nodes-reads", "a node on PostgreSQL: at least 0.95 of SQLite", nodes.reads),
    Scenario("nodes-visible", "a publish on 3 nodes: p99 at most 250 ms", nodes.visible),
    Scenario("nodes-publish", "8 authors at 3 nodes", nodes.publishes),
    Scenario("nodes-counts", "downloads counted by 1, 2 and 3 nodes", nodes.counts),
    Scenario(
        "nodes-start-100k",
        "a new node reads 100,000 widgets: at most 15 s",
        partial(nodes.bootstrap, size=_LARGE, most_s=15),
    ),
    Scenario(
        "search-p99-100k",
        "100,000 widgets, one client: at most 3 ms",
        partial(latency.search_p99, size=_LARGE, most_ms=3),
    ),
    Scenario(
        "detail-100k",
        "100,000 widgets: at least 0.80 of the rate at 10,000",
        partial(throughput.detail_at, size=_LARGE),
    ),
    Scenario(
        "memory-100k",
        "a worker after traffic: at most 250 MB",
        partial(footprint.memory, size=_LARGE, most_mb=250),
    ),
    Scenario(
        "start-100k",
        "to the first answer: at most 2 s",
        partial(footprint.start, size=_LARGE, most_s=2),
    ),
    Scenario(
        "import-100k",
        "import (12,000 widgets a second) and export",
        partial(footprint.import_export, size=_LARGE, least_rate=12_000),
    ),
    Scenario(
        "import-serving",
        "during an import of 60,000: search p99 100 ms, publishes 2 s",
        partial(importing.import_while_serving, size=_IMPORTED),
    ),
    Scenario(
        "search-p99-1m",
        "1,000,000 widgets, one client: at most 10 ms",
        partial(latency.search_p99, size=_MILLION, most_ms=10),
        is_million=True,
    ),
    Scenario(
        "resolve-1m",
        "resolve 100 of 1,000,000 widgets: at most 2 ms of the core",
        partial(streaming.resolve, size=_MILLION),
        is_million=True,
    ),
    Scenario(
        "detail-1m",
        "1,000,000 widgets: at least 0.80 of the rate at 10,000; all keys 0.70",
        partial(throughput.detail_at, size=_MILLION),
        is_million=True,
    ),
    Scenario(
        "detail-counting-1m",
        "the same while downloads are counted: 0.80 of the rate without",
        partial(counting.detail_counting, size=_MILLION),
        is_million=True,
    ),
    Scenario(
        "memory-1m",
        "a worker after traffic: at most 1,200 MB",
        partial(footprint.memory, size=_MILLION, most_mb=1_200),
        is_million=True,
    ),
    Scenario(
        "memory-1m-4",
        "4 workers after traffic, together: at most 900 MB",
        partial(footprint.memory_of_all, size=_MILLION, workers=4, most_mb=900),
        is_million=True,
    ),
    Scenario(
        "nodes-start-1m",
        "a new node reads 1,000,000 widgets: at most 150 s",
        partial(nodes.bootstrap, size=_MILLION, most_s=150),
        is_million=True,
    ),
    Scenario(
        "start-1m",
        "to the first answer: at most 15 s; from a backup 8 s",
        partial(footprint.start, size=_MILLION, most_s=15, most_from_backup_s=8),
        is_million=True,
    ),
)


def listing() -> str:
    return "\n".join(f"  {it.name:<18} {it.about}" for it in SCENARIOS)


def chosen(options: Options) -> list[Scenario]:
    """The selected scenarios. The one with a million widgets runs only if it is named."""
    able = [
        it for it in SCENARIOS if options.million or not it.is_million or it.name in options.only
    ]
    if not options.only:
        return able
    for wanted in options.only:
        if not any(fnmatchcase(it.name, wanted) for it in able):
            raise BenchError(f"There is no scenario {wanted!r}; ./dev bench --help lists them.")
    return [it for it in able if any(fnmatchcase(it.name, only) for only in options.only)]
