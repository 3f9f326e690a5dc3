"""Afterwards, for --nodes: is everything on every node, and are all nodes equal?"""

import hashlib
from collections.abc import Iterator

import httpx

from chaos.ledger import Ledger
from chaos.node_stage import NodeStage
from chaos.verdict import judge_counts, judge_releases
from support.service import wait_for

# Only in the long form: the short one runs in parallel with other tests. On a busy machine a
# single recovery may take longer.
_LONGEST_READ_S = 3.0
_LONGEST_RECOVERY_S = 10.0
_MAY_BE_LATE = 0.1


def judge_nodes(stage: NodeStage, ledger: Ledger, *, is_short: bool) -> None:
    """In the short form, commands are run for two of the nodes."""
    if not is_short:
        _judge_times(ledger)
    stage.wait_until_well()
    clients = [node.client() for node in stage.nodes]
    try:
        wait_for(lambda: len({_state(it, stage) for it in clients}) == 1, 60)
    except AssertionError:
        ledger.violated("the nodes do not show the same a minute after the last fault")
    for client in clients:
        judge_releases(client, ledger, is_order_strict=False)
        judge_counts(client, ledger)
        client.close()
    commanded = range(len(stage.nodes))[: 2 if is_short else None]
    _judge_exports(stage, ledger, commanded)
    for index, node in enumerate(stage.nodes):
        if node.stop(60) != 0:
            ledger.violated("a node did not stop cleanly")
        if "Traceback" in node.log:
            ledger.violated(f"a stack trace is in the log of node {index + 1}")
    _judge_by_doctor(stage, ledger, commanded)


def _judge_times(ledger: Ledger) -> None:
    if ledger.longest_wait_s > _LONGEST_READ_S:
        ledger.violated(f"a reader was without an answer for {ledger.longest_wait_s:.1f} s")
    late = [it for it in ledger.recoveries_s if it > _LONGEST_RECOVERY_S]
    if len(late) > _MAY_BE_LATE * len(ledger.recoveries_s):
        times = ", ".join(f"{it:.1f} s" for it in late)
        ledger.violated(f"nothing was counted for {times} after the database was back")


def _state(client: httpx.Client, stage: NodeStage) -> str:
    """A hash of everything a node serves, byte for byte, except for the current time."""
    digest = hashlib.sha256()
    for path in _paths(stage):
        digest.update(client.get(path).content)
    digest.update(str(client.get("/api/stats").json()["downloads"]).encode())
    return digest.hexdigest()


def _paths(stage: NodeStage) -> Iterator[str]:
    scopes = sorted({key.partition("/")[0] for key in stage.counted} | set(stage.tokens))
    yield from (f"/api/widgets/{scope}/registry.json" for scope in scopes)
    keys = {it.key for it in stage.ledger.releases} | set(stage.counted)
    yield from (f"/api/v1/widgets/{key}" for key in sorted(keys))
    yield "/api/v1/widgets/search?limit=100"
    yield "/api/v1/widgets/changes?since=0&limit=1000"
    yield "/api/v1/widgets/revocations"


def _judge_exports(stage: NodeStage, ledger: Ledger, nodes: range) -> None:
    exports = set()
    for index in nodes:
        folder = stage.folder / f"export-{index + 1}"
        folder.mkdir()
        stage.run("export", str(folder / "all.ndjson"), node=index)
        exports.add(hashlib.sha256((folder / "all.ndjson").read_bytes()).hexdigest())
    if len(exports) != 1:
        ledger.violated("the nodes export different bytes")


def _judge_by_doctor(stage: NodeStage, ledger: Ledger, nodes: range) -> None:
    for index in nodes:
        try:
            stage.run("doctor", node=index)
        except RuntimeError as error:
            ledger.violated(f"doctor: {error}")
