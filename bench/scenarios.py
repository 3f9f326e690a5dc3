"""Every scenario by name, with its target."""

from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import partial
from typing import NamedTuple

from . import (
    bundles,
    counting,
    footprint,
    importing,
    latency,
    nodes,
    pages,
    peers,
    publishing,
    sandbox,
    streaming,
    throughput,
)
from .measures import BenchError, Outcome, at_least, at_most
from .options import Options
from .reading import SIZE
from .rig import Rig

_LARGE, _MILLION = 100_000, 1_000_000
_IMPORTED = 60_000


class Scenario(NamedTuple):
    name: str
    about: str
    run: Callable[[Rig], list[Outcome]]
    is_million: bool = False
    is_peers: bool = False


# Reads of one worker with full caches, first, and one after the other.
_READS = (
    Scenario("detail", "10,000 widgets × 8 versions, all keys: 0.33 of nginx", throughput.detail),
    Scenario("version", "all about one version of each widget: 0.33", throughput.version),
    Scenario("detail-304", "known already: 0.75 of the bare server", throughput.detail_304),
    Scenario("search", "20 results, common words: 0.20 of nginx", throughput.search),
    Scenario("search-compat", "with compatSdk: 0.15", throughput.search_compat),
    Scenario("search-hot", "always the same search", throughput.search_hot),
    Scenario("search-new", "hardly ever the same search: 130 µs", throughput.search_new),
    Scenario("registry", "100 widgets, compressed: 0.33 of nginx", throughput.registry),
    Scenario("registry-304", "known already: 0.75 of the bare server", throughput.registry_304),
    Scenario("pages", "front, search and widget pages: 0.05 of nginx", pages.pages),
    Scenario("pages-first", "rendered for the first time: 1 ms", pages.first_renderings),
    Scenario(
        "resolve",
        "100 of 10,000 widgets: 1.5 ms",
        partial(streaming.resolve, size=SIZE, wanted=at_most(1.5)),
    ),
    Scenario(
        "peers",
        "detail and search beside Verdaccio and Datasette; only with --peers",
        peers.compare,
        is_peers=True,
    ),
)
_WITH_OTHERS = (
    Scenario(
        "search-pages",
        "new search pages of a catalog with keywords and READMEs, in turn with the bare server",
        partial(pages.searched_for_the_first_time, size=SIZE),
    ),
    Scenario("crawler", "every page once: visitors wait 10 ms at most", pages.crawler),
    Scenario(
        "detail-counting",
        "detail while downloads are counted: 0.80 of the rate without",
        partial(counting.detail_counting, size=SIZE, wanted=at_least(0.80)),
    ),
    Scenario(
        "search-counting",
        "search while downloads are counted: 0.80 of the rate without",
        partial(counting.search_counting, size=SIZE, wanted=at_least(0.80)),
    ),
    Scenario("counter", "answered after commit: 8,000 a second", throughput.counter),
    Scenario("publish", "a bundle of 1 MB: at most 150 ms", publishing.publish),
    Scenario("bundles", "real modules, compressed: 0.35 of the bytes", bundles.bundles),
    Scenario("sandbox", "start of a sandboxed widget: 1.3 of an empty frame", sandbox.sandbox),
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
    Scenario("nodes-reads", "a node on PostgreSQL: at least 0.95 of SQLite", nodes.reads),
    Scenario("nodes-visible", "a publish on 3 nodes: p99 at most 250 ms", nodes.visible),
    Scenario("nodes-publish", "8 authors at 3 nodes", nodes.publishes),
    Scenario("nodes-counts", "downloads counted by 1, 2 and 3 nodes", nodes.counts),
)
_LARGER = (
    Scenario(
        "search-pages-100k",
        "the same with 100,000 widgets",
        partial(pages.searched_for_the_first_time, size=_LARGE),
    ),
    Scenario(
        "nodes-start-100k",
        "a new node reads 100,000 widgets: at most 15 s",
        partial(nodes.bootstrap, size=_LARGE, wanted=at_most(15)),
    ),
    Scenario(
        "search-p99-100k",
        "100,000 widgets, one client: at most 3 ms",
        partial(latency.search_p99, size=_LARGE, wanted=at_most(3)),
    ),
    Scenario(
        "search-new-100k",
        "100,000 widgets, hardly ever the same search: 180 µs",
        partial(throughput.search_new_at, size=_LARGE, wanted=at_most(180)),
    ),
    Scenario(
        "resolve-100k",
        "100 of 100,000 widgets: 1.5 ms",
        partial(streaming.resolve, size=_LARGE, wanted=at_most(1.5)),
    ),
    Scenario(
        "detail-100k",
        "100,000 widgets: at least 0.80 of the rate at 10,000; all keys 0.70",
        partial(
            throughput.detail_at,
            size=_LARGE,
            wanted=at_least(0.80),
            wanted_of_all=at_least(0.70),
        ),
    ),
    Scenario(
        "memory-100k",
        "a worker after traffic: at most 250 MB",
        partial(footprint.memory, size=_LARGE, wanted=at_most(250)),
    ),
    Scenario(
        "start-100k",
        "to the first answer: at most 2 s",
        partial(footprint.start, size=_LARGE, wanted=at_most(2)),
    ),
    Scenario(
        "import-100k",
        "import (250 µs of CPU a widget) and export",
        partial(footprint.import_export, size=_LARGE, wanted=at_most(250)),
    ),
    Scenario(
        "import-serving",
        "during an import of 60,000: search p99 100 ms, publishes 2 s",
        partial(importing.import_while_serving, size=_IMPORTED),
    ),
)


def _with_a_million(name: str, about: str, run: Callable[..., list[Outcome]]) -> Scenario:
    """For information: it works, and this is what it takes. There are no targets."""
    about = f"{about}, 1,000,000 widgets"
    return Scenario(name, about, partial(run, size=_MILLION), is_million=True)


_MILLIONS = (
    _with_a_million("search-p99-1m", "one client", latency.search_p99),
    _with_a_million("resolve-1m", "100 widgets", streaming.resolve),
    _with_a_million("detail-1m", "the rate beside that at 10,000", throughput.detail_at),
    _with_a_million("detail-counting-1m", "while counting", counting.detail_counting),
    _with_a_million("memory-1m", "a worker after traffic", footprint.memory),
    _with_a_million(
        "memory-1m-4", "4 workers after traffic", partial(footprint.memory_of_all, workers=4)
    ),
    _with_a_million("nodes-start-1m", "a new node reads them", nodes.bootstrap),
    _with_a_million("start-1m", "to the first answer", footprint.start),
)
SCENARIOS = (*_READS, *_WITH_OTHERS, *_LARGER, *_MILLIONS)


def listing() -> str:
    return "\n".join(f"  {it.name:<18} {it.about}" for it in SCENARIOS)


def chosen(options: Options) -> list[Scenario]:
    """The selected scenarios. Those with a million widgets or with peers run only if they are
    named, or asked for by their option."""
    able = [
        scenario
        for scenario in SCENARIOS
        if scenario.name in options.only
        or (
            (options.million or not scenario.is_million)
            and (options.peers or not scenario.is_peers)
        )
    ]
    if not options.only:
        return able
    for wanted in options.only:
        if not any(fnmatchcase(it.name, wanted) for it in able):
            raise BenchError(f"There is no scenario {wanted!r}; ./dev bench --help lists them.")
    return [it for it in able if any(fnmatchcase(it.name, only) for only in options.only)]
