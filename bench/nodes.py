"""Scenarios of nodes that share a PostgreSQL, all of them and the database on this machine."""

import contextlib
import json
import shutil
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from .client import Connection, request
from .folders import ensure_folder
from .load import run_wrk, write_requests
from .machine import cpu_seconds_of, whole_cpu_s
from .measures import BenchError, Limit, Outcome, at_least, at_most, median_ratio, percentile
from .postgresql import Database, running_postgresql
from .publishing import Author, make_account
from .reading import SIZE
from .rig import Rig
from .servers import Server, environment_of, running_catalog, starting_catalog
from .traffic import detail_target, detail_targets, search_target

_READ_WITHIN_S = 1_500
_NODES = 3
_AUTHORS = 8
_PUBLISHES = 40
_SMALL_BUNDLE_BYTES = 10_000
_COUNTED_WIDGETS = 1_000
_TIMEOUT_S = 60.0
_SETTLED_S = 1.0  # Until the requests in flight when wrk disconnected are counted.


@contextlib.contextmanager
def _running_nodes(rig: Rig, database: Database, count: int) -> Iterator[list[Server]]:
    folders = [rig.folder / f"node-{number}" for number in range(count)]
    try:
        with contextlib.ExitStack() as stack:
            yield [
                stack.enter_context(running_catalog(rig, folder, settings=database.settings))
                for folder in folders
            ]
    finally:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)


def reads(rig: Rig) -> list[Outcome]:
    """A node on PostgreSQL compared with one on SQLite, in turns, with the same requests."""
    targets = [request(it) for it in detail_targets(SIZE, SIZE)]
    file = write_requests(rig.folder / "requests-nodes", targets)
    with (
        running_postgresql() as server,
        server.copy_of(SIZE) as database,
        _running_nodes(rig, database, 1) as (shared,),
        running_catalog(rig, ensure_folder(SIZE)) as alone,
    ):
        contenders = [shared, alone]
        loads: dict[Server, list[float]] = {shared: [], alone: []}
        rates: dict[Server, list[float]] = {shared: [], alone: []}
        for contender in contenders:
            run_wrk(rig, contender, file, rig.options.seconds)
        for _ in range(rig.options.rounds):
            for contender in contenders:
                load = run_wrk(rig, contender, file, rig.options.seconds)
                loads[contender].append(load.cpu_rate)
                rates[contender].append(load.rate)
            contenders.reverse()
    by_clock = median_ratio(rates[shared], rates[alone])
    notes = [
        f"{median(rates[shared]):,.0f}/s beside {median(rates[alone]):,.0f}/s",
        f"by the clock {by_clock:.2f}, which other work on the machine changes",
    ]
    what = f"detail, {SIZE:,} widgets, a node on PostgreSQL, by processor time"
    value = median_ratio(loads[shared], loads[alone])
    return [Outcome(what, value, "of SQLite", at_least(0.95), notes, {"by_clock": by_clock})]


def visible(rig: Rig) -> list[Outcome]:
    """From the response to a publish until all other nodes show it."""
    with _with_authors(rig, 1) as (nodes, (author,)):
        times_ms = []
        with contextlib.ExitStack() as stack:
            others = [stack.enter_context(Connection(it.port)) for it in nodes[1:]]
            for _ in range(_PUBLISHES):
                author.publish()
                times_ms.append(_shown_after_ms(others, author.latest))
    notes = [
        f"half of them after {percentile(times_ms, 0.5):.0f} ms, all after {max(times_ms):.0f} ms",
        f"{_PUBLISHES} publishes at one of {_NODES} nodes",
    ]
    what = "a publish until all other nodes show it, p99"
    value = percentile(times_ms, 0.99)
    figures = {"p50_ms": percentile(times_ms, 0.5)}
    return [Outcome(what, value, "ms", at_most(250), notes, figures)]


def _shown_after_ms(nodes: Sequence[Connection], version: str) -> float:
    raw, began = request("/api/v1/widgets/author0/bench"), time.perf_counter()
    for node in nodes:
        while True:
            reply = node.ask(raw)
            if reply.status == 200 and json.loads(reply.body)["latestVersion"] == version:
                break
            if time.perf_counter() - began > _TIMEOUT_S:
                raise BenchError(f"A node has not shown a publish after {_TIMEOUT_S:.0f} s.")
            time.sleep(0.001)
    return (time.perf_counter() - began) * 1000


def publishes(rig: Rig) -> list[Outcome]:
    """All authors concurrently, each at one of the nodes, one version after another."""
    with (
        _with_authors(rig, _AUTHORS) as (nodes, authors),
        ThreadPoolExecutor(_AUTHORS) as threads,
    ):
        for posting in authors:
            posting.publish()
        before = sum(cpu_seconds_of(it.pids()) for it in nodes)
        began = time.perf_counter()
        turns = [author for author in authors for _ in range(_PUBLISHES // 4)]
        times_ms = [ms for some in threads.map(_publish_all, _apart(turns)) for ms in some]
        seconds = time.perf_counter() - began
        core_ms = (sum(cpu_seconds_of(it.pids()) for it in nodes) - before) / len(turns) * 1000
    notes = [
        f"a publish took {median(times_ms):.0f} ms (median), p99 {percentile(times_ms, 0.99):.0f}",
        f"on the core {core_ms:.0f} ms a publish, without the database",
    ]
    what = f"publish, {_AUTHORS} authors at {_NODES} nodes, bundles of 10 KB"
    return [Outcome(what, len(turns) / seconds, "/s", None, notes, {"core_ms": core_ms})]


def _apart(turns: Sequence[Author]) -> list[list[Author]]:
    """What each author does, who does one thing at a time."""
    return [[it for it in turns if it is author] for author in dict.fromkeys(turns)]


def _publish_all(turns: Sequence[Author]) -> list[float]:
    return [author.publish() for author in turns]


@contextlib.contextmanager
def _with_authors(rig: Rig, count: int) -> Iterator[tuple[list[Server], list[Author]]]:
    with running_postgresql() as server, server.copy_of(SIZE) as database:
        names = [f"author{number}" for number in range(count)]
        for name in names:
            make_account(name, rig.folder / "command", environment_of(database.settings))
        with _running_nodes(rig, database, _NODES) as nodes, contextlib.ExitStack() as stack:
            authors = [
                Author(nodes[number % _NODES], name, _SMALL_BUNDLE_BYTES)
                for number, name in enumerate(names)
            ]
            for author in authors:
                stack.callback(author.close)
            yield nodes, authors


def counts(rig: Rig) -> list[Outcome]:
    """With 1, 2 and 3 nodes; every acknowledged increment must be in the database afterwards."""
    posts = [request(detail_target(it), method="POST") for it in range(_COUNTED_WIDGETS)]
    file = write_requests(rig.folder / "requests-counts", posts)
    with (
        running_postgresql() as server,
        server.copy_of(SIZE) as database,
        _running_nodes(rig, database, _NODES) as nodes,
    ):
        for node in nodes:
            run_wrk(rig, node, file, rig.options.seconds)
        return [_count(rig, nodes[: it + 1], database, file) for it in range(_NODES)]


def _count(rig: Rig, nodes: Sequence[Server], database: Database, file: Path) -> Outcome:
    time.sleep(_SETTLED_S)
    before, served_s = database.counted(), database.server.cpu_s()
    core_s = sum(cpu_seconds_of(it.pids()) for it in nodes)
    with ThreadPoolExecutor(len(nodes)) as threads:
        loads = list(threads.map(lambda it: run_wrk(rig, it, file, rig.options.seconds), nodes))
    time.sleep(_SETTLED_S)
    counted = database.counted() - before
    node_us = (sum(cpu_seconds_of(it.pids()) for it in nodes) - core_s) / counted * 1e6
    database_us = (database.server.cpu_s() - served_s) / counted * 1e6
    acknowledged, hung_up = sum(it.requests for it in loads), rig.options.connections * len(nodes)
    if not acknowledged <= counted <= acknowledged + hung_up:
        raise BenchError(f"{acknowledged:,} were acknowledged, but {counted:,} were counted.")
    said = "1 node" if len(nodes) == 1 else f"{len(nodes)} nodes"
    p99_ms = max(it.p99_ms for it in loads)
    notes = [
        f"{rig.options.connections} connections a node, p99 {p99_ms:.0f} ms",
        f"on a core: {node_us:.0f} µs of the nodes, {database_us:.0f} µs of the database",
    ]
    return Outcome(
        f"count a download, answered after its commit, {said}",
        sum(it.rate for it in loads),
        "/s",
        at_least(1_000),
        notes,
        {"node_us": node_us, "database_us": database_us},
    )


def bootstrap(rig: Rig, size: int, wanted: Limit | None = None) -> list[Outcome]:
    """From the start of a node with an empty folder to its first response."""
    folder = rig.folder / "node-new"
    with running_postgresql() as server, server.copy_of(size) as database:
        began, served = time.monotonic(), server.cpu_s()
        with starting_catalog(rig, folder, settings=database.settings) as node:
            reply = node.wait_for(request(search_target("clock")), within_s=_READ_WITHIN_S)
            seconds, core_s = time.monotonic() - began, whole_cpu_s(node.process.pid)
            served = server.cpu_s() - served
        shutil.rmtree(folder)
    if reply.status != 200:
        raise BenchError(f"The first answer has status {reply.status}.")
    notes = [f"on a core {core_s:.1f} s, and the database {served:.1f} s; all on one core but it"]
    what = f"start of a new node to its first answer, {size:,} widgets"
    return [Outcome(what, seconds, "s", wanted, notes, {"core_s": core_s})]
