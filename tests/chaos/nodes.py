"""./dev chaos --nodes: restarts under load, then errors under traffic, then a check
for lost data.
"""

import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Collection
from pathlib import Path

from chaos.ledger import Ledger
from chaos.node_errors import NODE_ERRORS, NodeFaults
from chaos.node_stage import NodeStage
from chaos.node_verdict import judge_nodes
from chaos.report import show_node_report
from chaos.traffic import Traffic
from support.load import CountingLoad, ReadingLoad
from support.service import wait_for

_RESPONSES = 100
# The pause between two requests of a client, so that nodes start in reasonable time on a small
# machine.
_PAUSE_S = 0.04
# The accepted share of rejected counts during restarts: on a busy machine a count may time out.
# The short form runs in parallel with other tests.
_MAY_REFUSE, _MAY_REFUSE_IN_SHORT = 0.001, 0.05


def run_nodes(minutes: float, seed: int, only: Collection[str] = NODE_ERRORS) -> bool:
    """Whether all invariants held."""
    # So that everything that was started is stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    folder = Path(tempfile.mkdtemp(prefix="chaos-"))
    ledger = Ledger()
    began = time.monotonic()
    with NodeStage(folder, ledger) as stage:
        _restart_under_load(stage, is_short=not minutes)
        _make_chaos(stage, minutes, seed, only)
        judge_nodes(stage, ledger, is_short=not minutes)
    print(show_node_report(ledger, minutes, seed, time.monotonic() - began))
    if ledger.violations:
        print(f"Everything is kept in {folder}, with the nodes' logs.")
        return False
    shutil.rmtree(folder, ignore_errors=True)
    return True


def _restart_under_load(stage: NodeStage, *, is_short: bool) -> None:
    """Replace all workers, then all nodes, one after the other, without failed requests. In the
    short form: of one node each.
    """
    nodes = range(len(stage.nodes))
    may_refuse = _MAY_REFUSE_IN_SHORT if is_short else _MAY_REFUSE
    _count_failures(stage, "SIGHUP", _replace_workers, nodes[:1] if is_short else nodes, may_refuse)
    _count_failures(stage, "restarted", _restart, nodes[1:2] if is_short else nodes, may_refuse)


def _count_failures(
    stage: NodeStage,
    what: str,
    renew: Callable[[NodeStage, int], None],
    nodes: range,
    may_refuse: float,
) -> None:
    path = f"/api/v1/widgets/{stage.counted[0]}"
    with (
        ReadingLoad(stage.balancer_port, path, pause_s=_PAUSE_S) as reads,
        CountingLoad(stage.balancer_port, stage.counted, clients=3, pause_s=_PAUSE_S) as counts,
    ):
        for index in nodes:
            reads.wait_for(_RESPONSES)
            renew(stage, index)
        reads.wait_for(_RESPONSES)
    with stage.ledger.writing():
        stage.ledger.counts_attempted += counts.attempted
        stage.ledger.counts_acknowledged += counts.acknowledged
    failures = reads.failures + [f"count: {it}" for it in counts.failures if it != "503"]
    counted, refused = counts.acknowledged.total(), counts.statuses[503]
    stage.ledger.restarts.append(
        f"{len(nodes)} nodes {what}: {reads.answered:,} reads, {counted:,} counts, "
        f"{len(failures):,} failed ({refused:,} counts refused with 503), the longest read took "
        f"{reads.longest_s:.1f} s"
    )
    if refused > counted * may_refuse:
        stage.ledger.violated(f"{what}: {refused:,} counts refused with 503")
    for failure in failures:
        stage.ledger.violated(f"{what}: {failure}")


def _replace_workers(stage: NodeStage, index: int) -> None:
    node = stage.nodes[index]
    said = node.log.count("All workers were replaced")
    node.process.send_signal(signal.SIGHUP)
    wait_for(lambda: node.log.count("All workers were replaced") > said, 120)


def _restart(stage: NodeStage, index: int) -> None:
    if code := stage.nodes[index].stop(60):
        stage.ledger.violated(f"a node that was stopped ended with {code}")
    stage.start(index)


def _make_chaos(stage: NodeStage, minutes: float, seed: int, only: Collection[str]) -> None:
    ends_at = time.monotonic() + minutes * 60
    longest_pause_s = 3 if minutes else 0.5
    ledger = stage.ledger
    is_short = not minutes
    served = (stage.balancer_port, stage.tokens, stage.counted)
    with Traffic(*served, ledger, seed, is_proxied=True, is_short=is_short) as traffic:
        traffic.is_served.set()
        with NodeFaults(stage, seed, longest_pause_s, only, is_short=is_short) as errors:
            while errors.is_alive and (time.monotonic() < ends_at or not errors.all_happened):
                time.sleep(0.2)
                _say(f"{max(0, ends_at - time.monotonic()):.0f} s left")
        time.sleep(1)
    _say("")


def _say(line: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
