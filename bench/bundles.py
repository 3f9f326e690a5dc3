"""Scenario of compressed bundles: how many bytes real modules take on the wire, and at which cost.

The modules are builds from npm, minified or not, as widgets contain them. They are published like
any other, and requested as browsers do.
"""

import json
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from .client import Connection, request
from .machine import cpu_seconds_of
from .measures import BenchError, Outcome, at_least, at_most
from .publishing import Author, running_with_author
from .rig import CACHE, Rig, say
from .servers import Server

_PACKAGES = {
    "alpinejs": "3.17.4",
    "chart.js": "4.6.1",
    "cytoscape": "3.34.4",
    "d3-geo": "3.1.2",
    "d3-shape": "3.2.1",
    "dompurify": "3.4.17",
    "echarts": "6.1.0",
    "luxon": "3.7.2",
    "marked": "18.2.0",
    "uplot": "1.6.32",
    "vue": "3.5.45",
}
_MODULES = (
    "alpinejs/dist/module.esm.min.js",
    "chart.js/dist/chart.js",
    "cytoscape/dist/cytoscape.esm.min.mjs",
    "d3-geo/dist/d3-geo.min.mjs",
    "d3-shape/dist/d3-shape.min.mjs",
    "dompurify/dist/purify.es.mjs",
    "echarts/dist/echarts.esm.min.mjs",
    "luxon/build/es6/luxon.mjs",
    "marked/lib/marked.esm.js",
    "uplot/dist/uPlot.esm.js",
    "vue/dist/vue.esm-browser.prod.js",
)
_ENCODINGS = ("br", "zstd", "gzip")
_COMPRESSED_WITHIN_S = 300
_REQUESTS = 2_000


def bundles(rig: Rig) -> list[Outcome]:
    modules = _install_modules()
    with running_with_author(rig) as (catalog, author):
        targets = {name: _publish(author, content) for name, content in modules.items()}
        began = time.monotonic()
        sizes = {it: _sizes(catalog, targets, it) for it in (*_ENCODINGS, "identity")}
        seconds = time.monotonic() - began
        smallest = min(targets, key=lambda it: sizes["identity"][it])
        ratio = _cpu_ratio(rig, catalog, targets[smallest])
    raw = sum(sizes["identity"].values())
    outcomes = []
    for encoding in _ENCODINGS:
        its = sizes[encoding]
        notes = [f"{name}: {sizes['identity'][name]:,} → {its[name]:,} bytes" for name in modules]
        what = f"{len(modules)} modules on the wire, {encoding}"
        figures = {"raw_bytes": float(raw), "sent_bytes": float(sum(its.values()))}
        value = sum(its.values()) / raw
        outcomes.append(Outcome(what, value, "of uncompressed", at_most(0.35), notes, figures))
    notes = [f"all were compressed {seconds:.0f} s after the last was published"]
    what = "a compressed module: requests per CPU time, beside one that is sent as it is"
    return [*outcomes, Outcome(what, ratio, "of uncompressed", at_least(0.97), notes)]


def _publish(author: Author, content: bytes) -> str:
    author.bundle = content
    author.publish()
    return f"/cdn/@author/bench/{author.latest}/index.js"


def _sizes(catalog: Server, targets: Mapping[str, str], encoding: str) -> dict[str, int]:
    """The bytes of each module as sent, once it is sent so."""
    sizes: dict[str, int] = {}
    until = time.monotonic() + _COMPRESSED_WITHIN_S
    with Connection(catalog.port) as connection:
        while len(sizes) < len(targets):
            if time.monotonic() > until:
                raise BenchError(f"Not every module was compressed in {_COMPRESSED_WITHIN_S} s.")
            for name, target in targets.items():
                reply = connection.ask(request(target, {"Accept-Encoding": encoding}))
                if reply.status != 200:
                    raise BenchError(f"{target} is answered with {reply.status}.")
                is_sent_so = f"content-encoding: {encoding}".encode() in reply.head.lower()
                if is_sent_so or encoding == "identity":
                    sizes[name] = len(reply.body)
            time.sleep(0.5)
    return sizes


def _cpu_ratio(rig: Rig, catalog: Server, target: str) -> float:
    """How much CPU time of the worker a request takes as it is, beside one with br."""
    workers = catalog.worker_pids()
    raws = [request(target, {"Accept-Encoding": it}) for it in ("identity", "br")]
    ratios = []
    with Connection(catalog.port) as connection:
        for _ in range(rig.options.rounds):
            as_it_is, compressed = (_cpu_seconds(connection, workers, raw) for raw in raws)
            ratios.append(as_it_is / compressed)
    return median(ratios)


def _cpu_seconds(connection: Connection, workers: Sequence[int], raw: bytes) -> float:
    before = cpu_seconds_of(workers)
    for _ in range(_REQUESTS):
        connection.ask(raw)
    return cpu_seconds_of(workers) - before


def _install_modules() -> dict[str, bytes]:
    if shutil.which("npm") is None:
        raise BenchError("npm is not installed; this scenario needs it for the modules.")
    folder = CACHE / "modules"
    wanted = json.dumps({"private": True, "dependencies": _PACKAGES}, indent=2)
    stamp = folder / "installed"
    if not stamp.exists() or stamp.read_text() != wanted:
        say("Installing modules (once) …")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "package.json").write_text(wanted)
        options = ("--no-audit", "--no-fund", "--ignore-scripts")
        command = ["npm", "install", *options, "--prefix", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise BenchError(f"npm install failed: {done.stderr.strip()}")
        stamp.write_text(wanted)
    return {it.partition("/")[0]: _read(folder / "node_modules" / it) for it in _MODULES}


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BenchError(f"{path} cannot be read ({error.strerror}).") from error
