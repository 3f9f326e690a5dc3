"""Errors of nodes, and of what they share.

Two may happen at the same time: one of the database, one of anything else. Never are all nodes
down.
"""

import contextlib
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Collection
from typing import Self

from chaos.node_stage import NODES, NodeStage
from support.service import wait_for

_OF_THE_DATABASE = ("fail-over", "lose-primary", "hang-primary", "kill-standby")
_OF_NODES = (
    *("kill-node", "kill-worker", "stop-node", "replace-workers", "kill-object-store"),
    *("freeze-node", "kill-others-after-start"),
)
NODE_ERRORS = _OF_THE_DATABASE + _OF_NODES
# The others are covered by the restarts that come first, or take long.
_IN_SHORT = (
    *("fail-over", "hang-primary", "kill-worker", "kill-object-store"),
    *("freeze-node", "kill-others-after-start"),
)
_LONGEST_HANG_S = 8.0
_LONGEST_FREEZE_S = 15.0


class NodeFaults:
    """Every error in random order, repeatedly, from entering to leaving."""

    def __init__(
        self,
        stage: NodeStage,
        seed: int,
        longest_pause_s: float,
        only: Collection[str],
        *,
        is_short: bool,
    ) -> None:
        """`only` these errors. `is_short`: some of them, once each."""
        self._is_short = is_short
        happening = {it for it in only if it in _IN_SHORT or not is_short}
        groups = [
            tuple(it for it in names if it in happening) for names in (_OF_THE_DATABASE, _OF_NODES)
        ]
        self._names = {name for names in groups for name in names}
        self._stage = stage
        self._ledger = stage.ledger
        self._longest_pause_s = longest_pause_s
        self._is_over = threading.Event()
        self._happened: set[str] = set()
        self._threads = [
            threading.Thread(target=self._happen, args=(names, random.Random(f"{seed} {names}")))
            for names in groups
            if names
        ]

    @property
    def all_happened(self) -> bool:
        return self._happened >= self._names

    @property
    def is_alive(self) -> bool:
        return any(it.is_alive() for it in self._threads) and not self._ledger.violations

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join()

    def _happen(self, names: tuple[str, ...], choose: random.Random) -> None:
        try:
            while not self._is_over.is_set():
                for name in choose.sample(names, len(names)):
                    if self._is_over.wait(choose.uniform(0.2, self._longest_pause_s)):
                        return
                    self._ledger.log(f"{name} begins")
                    problem: Callable[[random.Random], None] = getattr(self, name.replace("-", "_"))
                    problem(choose)
                    self._ledger.log(f"{name} is over")
                    self._happened.add(name)
                if self._is_short:
                    return
        except (AssertionError, RuntimeError, OSError) as error:
            self._ledger.violated(f"after {self._happened} came {error!r}"[:2000])

    # Errors of the database

    def fail_over(self, choose: random.Random) -> None:
        self._stage.pair.fail_over()
        self._ledger.note("primaries killed, standbys promoted")
        self._add_standby(choose)

    def lose_primary(self, choose: random.Random) -> None:
        """Its machine neither refuses nor responds: connections to it hang."""
        self._stage.pair.fail_over(signal.SIGSTOP)
        self._ledger.note("primaries lost without a word, standbys promoted")
        self._add_standby(choose)

    def _add_standby(self, choose: random.Random) -> None:
        self._measure_recovery()
        time.sleep(choose.uniform(0, 2))
        self._stage.pair.add_standby()

    def _measure_recovery(self) -> None:
        """How soon after the return of the database a write succeeds."""
        began = time.monotonic()
        before = self._ledger.figures["counts acknowledged"]
        wait_for(lambda: self._ledger.figures["counts acknowledged"] > before, 120)
        with self._ledger.writing():
            self._ledger.recoveries_s.append(time.monotonic() - began)

    def hang_primary(self, choose: random.Random) -> None:
        primary = self._stage.pair.primary
        primary.send(signal.SIGSTOP)
        time.sleep(choose.uniform(1, min(_LONGEST_HANG_S, 4 * self._longest_pause_s)))
        primary.send(signal.SIGCONT)
        self._measure_recovery()
        self._ledger.note("primaries that hung for a while")

    def kill_standby(self, choose: random.Random) -> None:
        """Commits wait until it is back: nothing is acknowledged meanwhile."""
        standby = self._stage.pair.standby
        standby.kill()
        time.sleep(choose.uniform(0.2, self._longest_pause_s))
        standby.start()
        wait_for(self._stage.pair.is_synchronous, 120)
        self._ledger.note("standbys killed")

    # Other errors

    def kill_node(self, choose: random.Random) -> None:
        """One, or two of the three."""
        times = 1 if self._is_short else choose.choice((1, 1, NODES - 1))
        killed = choose.sample(range(NODES), times)
        for index in killed:
            self._kill(index)
        time.sleep(choose.uniform(0, 2))
        for index in killed:
            self._stage.start(index)
        self._ledger.note("nodes killed", len(killed))

    def _kill(self, index: int) -> None:
        self._stage.nodes[index].kill()
        self._ledger.log(f"node {index + 1} killed")

    def freeze_node(self, choose: random.Random) -> None:
        """Its processes stop, and its connections stay open."""
        pid = choose.choice(self._stage.nodes).process.pid
        os.killpg(pid, signal.SIGSTOP)
        time.sleep(choose.uniform(1, min(_LONGEST_FREEZE_S, 5 * self._longest_pause_s)))
        os.killpg(pid, signal.SIGCONT)
        self._ledger.note("nodes frozen for a while")

    def kill_others_after_start(self, choose: random.Random) -> None:
        """The balancer must use a node from the moment that it responds."""
        kept = choose.randrange(NODES)
        others = [it for it in range(NODES) if it != kept]
        self._kill(kept)
        time.sleep(choose.uniform(0, 3))
        self._stage.start(kept)
        for index in others:
            self._kill(index)
        for index in others:
            self._stage.start(index)
        self._ledger.note("nodes started, and then all others killed")

    def stop_node(self, choose: random.Random) -> None:
        index = choose.randrange(NODES)
        if code := self._stage.nodes[index].stop(60):
            self._ledger.violated(f"a node that was stopped ended with {code}")
        self._stage.start(index)
        self._ledger.note("nodes stopped and started")

    def kill_worker(self, choose: random.Random) -> None:
        for _ in range(1 if self._is_short else 3):
            if pids := choose.choice(self._stage.nodes).worker_pids():
                self._stage.send(choose.choice(pids), signal.SIGKILL)
                self._ledger.note("workers killed")
            time.sleep(choose.uniform(0, 0.5))

    def replace_workers(self, choose: random.Random) -> None:
        node = choose.choice(self._stage.nodes)
        before = set(node.worker_pids())
        node.process.send_signal(signal.SIGHUP)
        with contextlib.suppress(AssertionError):
            wait_for(lambda: not before & set(node.worker_pids()), 60)
            self._ledger.note("workers replaced by SIGHUP", len(before))

    def kill_object_store(self, choose: random.Random) -> None:
        """Nodes that are started meanwhile serve what they have, too."""
        self._stage.objects.stop()
        time.sleep(choose.uniform(0.5, 2 * self._longest_pause_s))
        if not self._is_short and choose.random() < 0.5:
            self.kill_node(choose)
        self._stage.objects.start()
        self._ledger.note("object stores killed")
