"""The stage of --nodes: PostgreSQL with a standby, an object store, three nodes behind HAProxy."""

import contextlib
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Self

from chaos.ledger import Ledger
from chaos.stage import AUTHORS, QUOTAS_OFF, shelf_of
from support.author import token_of
from support.haproxy import haproxy_before
from support.nodes import environment_of
from support.people import PASSWORD
from support.postgresql_pair import postgresql_pair
from support.s3 import ObjectStoreServer, settings_of
from support.service import Service, free_port, run_command, wait_for

NODES = 3


class NodeStage:
    """`nodes` are the running ones, each at its own port."""

    def __init__(self, folder: Path, ledger: Ledger) -> None:
        self.folder = folder
        self.ledger = ledger
        self._stack = contextlib.ExitStack()
        self.nodes: list[Service] = []

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            stack.callback(self._kill_nodes)
            self.pair = stack.enter_context(postgresql_pair(self.folder / "database"))
            self.objects = ObjectStoreServer(self.folder / "objects")
            self.objects.start()
            stack.callback(self.objects.stop)
            ports = [free_port() for _ in range(NODES)]
            before = haproxy_before(ports, self.folder / "haproxy")
            self.balancer_port = stack.enter_context(before)
            self.counted = self._fill()
            folders = [self.folder / f"node-{number + 1}" for number in range(NODES)]
            with ThreadPoolExecutor() as threads:
                for node in threads.map(self._start, folders, ports):
                    self.nodes.append(node)
            self.tokens = {name: token_of(self.nodes[0], name) for name in AUTHORS}
            self._fill_caches()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def environment(self) -> dict[str, str]:
        settings = settings_of(self.objects.port)
        address = f"http://127.0.0.1:{self.balancer_port}"
        given = environment_of(self.pair.url, **settings, base_url=address)
        # As an operator has it: nodes drain before they stop.
        del given["WIDGET_CATALOG_DRAIN_S"]
        return {**QUOTAS_OFF, **given}

    def start(self, index: int) -> None:
        """Start a node on its port, and wait until it responds."""
        former = self.nodes[index]
        self.nodes[index] = self._start(former.data, former.port)

    def _start(self, data: Path, port: int) -> Service:
        began = time.monotonic()
        service = Service(data, "--workers", "2", port=port, environment=self.environment)
        with self.ledger.writing():
            took_s = time.monotonic() - began
            self.ledger.longest_start_s = max(self.ledger.longest_start_s, took_s)
        return service

    def run(self, *arguments: str, stdin: bytes = b"", node: int | None = None) -> str:
        """A command with the settings of all nodes, in its own folder or in this node's."""
        data = self.folder / "command" if node is None else self.nodes[node].data
        done = run_command(
            *arguments, "--data", str(data), stdin=stdin, environment=self.environment
        )
        said = (done.stdout + done.stderr).decode()
        if done.returncode:
            raise RuntimeError(said)
        return said

    def wait_until_well(self) -> None:
        for node in self.nodes:
            wait_for(partial(_is_well, node), 120)

    def _fill(self) -> list[str]:
        for name in AUTHORS:
            account = ("account", "create", name, "--email", f"{name}@example.org")
            self.run(*account, "--password-stdin", stdin=PASSWORD.encode())
        lines, keys = shelf_of(self.folder / "source")
        self.run("import", str(lines))
        return keys

    def _fill_caches(self) -> None:
        """Bundles in a node's cache are served without the object store. All widgets of the shelf
        have the same one.
        """
        for node in self.nodes:
            with node.client() as client:
                assert client.get(f"/cdn/@{self.counted[0]}/1.0.0/index.js").status_code == 200

    def _kill_nodes(self) -> None:
        for node in self.nodes:
            node.kill()

    def send(self, pid: int, what: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, what)


def _is_well(node: Service) -> bool:
    with node.client() as client:
        return client.get("/api/health").status_code == 200
