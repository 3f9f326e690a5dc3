"""The stage: one machine with one service, which can be killed and restarted."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from chaos.ledger import Ledger
from chaos.machine import CLOCK_MODULES, Clock, Disk
from support.author import add_account, token_of
from support.service import Service, clean_environment, free_port, run_command
from support.widgets import ndjson, version_line, widget_line
from widget_catalog.catalog.node.node import prepare_node

AUTHORS = ("ann", "bob")
_BUNDLE = b"export function mount(element) { element.textContent = 'chaos'; }\n"
QUOTAS_OFF = {
    "WIDGET_CATALOG_MAX_NEW_WIDGETS_PER_DAY": "0",
    "WIDGET_CATALOG_MAX_VERSIONS_PER_HOUR": "0",
    "WIDGET_CATALOG_MAX_BYTES_PER_DAY": "0",
    "WIDGET_CATALOG_MAX_OPEN_REQUESTS": "0",
}


class Stage:
    """The data folder and its service. `service` is the running one."""

    def __init__(self, folder: Path, ledger: Ledger, *, disk_mb: int, has_clock: bool) -> None:
        """`disk_mb`: the size of a separate disk; 0 for none, which cannot be filled."""
        self.folder = folder
        self.ledger = ledger
        self.disk = Disk(folder / "disk", disk_mb) if disk_mb else None
        self.clock = Clock(folder) if has_clock else None
        if self.clock:
            # For all processes that are started from now on, and for the one whose forks are
            # services.
            sys.path.insert(0, str(CLOCK_MODULES))
            os.environ.update(self.clock.environment)
        self.data = folder / "disk" / "data" if disk_mb else folder / "data"
        self.port = free_port()
        self.groups: list[int] = []
        self.counted = self._fill_folder()
        self.service = self.start()
        self.tokens = {name: token_of(self.service, name) for name in AUTHORS}

    def start(self) -> Service:
        """Start the service on its port and wait until it responds."""
        began = time.monotonic()
        flags = ("--workers", "2", "--metrics-port", str(free_port()))
        service = Service(self.data, *flags, port=self.port, environment=QUOTAS_OFF)
        self.groups.append(service.process.pid)
        with self.ledger.writing():
            took_s = time.monotonic() - began
            self.ledger.longest_start_s = max(self.ledger.longest_start_s, took_s)
        return service

    def send(self, pid: int, what: signal.Signals) -> None:
        os.kill(pid, what)

    def begin_import(self, file: Path) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [sys.executable, "-m", "widget_catalog", "import", str(file), "--data", str(self.data)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=clean_environment(QUOTAS_OFF),
            start_new_session=True,
        )

    def keep(self) -> Path:
        """Keep everything for inspection: the disk is gone when this process ends."""
        if self.disk:
            shutil.copytree(self.folder / "disk", self.folder / "kept")
        return self.folder

    def _fill_folder(self) -> list[str]:
        """Accounts for authors, and widgets to be read and counted; returns their keys."""
        lines, keys = shelf_of(self.folder / "source")
        node = prepare_node(self.data)
        for name in AUTHORS:
            add_account(node, name)
        node.store.close()
        done = run_command("import", str(lines), "--data", str(self.data))
        if done.returncode:
            raise RuntimeError(done.stderr.decode())
        return keys


def shelf_of(source: Path) -> tuple[Path, list[str]]:
    """A file of widgets to be read and counted, and their keys."""
    source.mkdir()
    (source / "widget.js").write_bytes(_BUNDLE)
    stored = {"bundleFile": "widget.js", "bundleUrl": None, "bundleSize": None}
    version = version_line("1.0.0", sha256Hash=None, releaseNotes="n" * 5_000, **stored)
    keys = [f"shelf/w{number}" for number in range(300)]
    lines = ndjson(*(widget_line(key, versions=[version]) for key in keys))
    (source / "shelf.ndjson").write_bytes(lines)
    return source / "shelf.ndjson", keys
