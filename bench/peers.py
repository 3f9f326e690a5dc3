"""The catalog beside servers that people would use instead, with the same widgets."""

import contextlib
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from .catalogs import COMMON, key_of
from .client import request
from .machine import cpu_seconds_of
from .measures import BenchError, Outcome, Served
from .peer_data import ensure_database, ensure_storage
from .reading import SIZE, VERSIONS, everyday_targets, reading
from .rig import CACHE, Rig, free_port, say
from .servers import Server, running_other
from .side_by_side import Contender, side_by_side, survey
from .traffic import detail_targets

_FOLDER = CACHE / "peers"
# A plug-in of Verdaccio names node-fetch by its tag `cjs`, which not every registry serves.
_PACKAGE = {
    "private": True,
    "dependencies": {"verdaccio": "6"},
    "overrides": {"node-fetch": "2.7.0"},
}
_DATASETTE = "datasette==0.65.*"
# One after the other: a search in Verdaccio reads every package, which takes a second or more.
_SEARCHES = 3
# Fewer, and for longer: a request to Datasette takes some milliseconds.
_CONNECTIONS, _SECONDS = 16, 3


def compare(rig: Rig) -> list[Outcome]:
    """Each as it is installed by default, with one process, and everything in memory that it
    keeps there by itself."""
    verdaccio_program, datasette_program = _install_verdaccio(), _install_datasette()
    storage = ensure_storage(_FOLDER / "verdaccio-data", SIZE, VERSIONS)
    database = ensure_database(_FOLDER / "datasette-data", SIZE, VERSIONS)
    seconds = max(rig.options.seconds, _SECONDS)
    rig = replace(rig, options=replace(rig.options, connections=_CONNECTIONS, seconds=seconds))
    with (
        reading(rig) as catalog,
        _verdaccio(rig, verdaccio_program, storage) as verdaccio,
        _datasette(rig, datasette_program, database) as datasette,
    ):
        keys = [key_of(number) for number in range(SIZE)]
        packages = _get(f"/@{it.replace('/', '%2f')}" for it in keys)
        details = side_by_side(
            rig,
            catalog,
            survey(catalog, detail_targets(SIZE, SIZE)),
            f"detail of one of {SIZE:,} widgets",
            unit="µs",
            peers=[
                _tried(Contender("Verdaccio", verdaccio, packages)),
                _tried(Contender("Datasette", datasette, _get(map(_row_target, keys)))),
            ],
        )
        searches = side_by_side(
            rig,
            catalog,
            survey(catalog, everyday_targets()),
            f"search in {SIZE:,} widgets, 20 results",
            unit="µs",
            peers=[_tried(Contender("Datasette", datasette, _get(map(_row_search, COMMON))))],
        )
        packages = _get(map(_package_search, COMMON))
        slow = _measure(_tried(Contender("Verdaccio", verdaccio, packages)))
        searches = replace(searches, servers={**searches.servers, "Verdaccio": slow})
    versions = f"{_verdaccio_version(verdaccio_program)}, {_output(datasette_program, '--version')}"
    return [replace(it, notes=[*it.notes, _times(it), versions]) for it in (details, searches)]


def _measure(peer: Contender) -> Served:
    """Some requests, one after the other, for a server too slow for wrk."""
    before, began = cpu_seconds_of(peer.server.serving_pids()), time.monotonic()
    for raw in peer.requests[:_SEARCHES]:
        peer.server.ask(raw)
    seconds = time.monotonic() - began
    cpu_s = cpu_seconds_of(peer.server.serving_pids()) - before
    return Served(cpu_s / _SEARCHES * 1e6, _SEARCHES / seconds)


def _row_target(key: str) -> str:
    return f"/catalog/widgets/{key.replace('/', ',')}.json?_shape=array&_json=versions&_json=latest"


def _row_search(word: str) -> str:
    leaner = "_nofacet=1&_nosuggest=1&_nocol=versions"
    return f"/catalog/widgets.json?_search={word}&_size=20&_json=latest&{leaner}"


def _package_search(word: str) -> str:
    return f"/-/v1/search?text={word}&size=20"


def _get(targets: Iterable[str]) -> list[bytes]:
    return [request(it) for it in targets]


def _tried(peer: Contender) -> Contender:
    """Raises BenchError if it does not respond with what is wanted."""
    reply = peer.server.ask(peer.requests[0])
    if reply.status != 200 or b"widget-" not in reply.body:
        raise BenchError(f"{peer.name} answers {peer.requests[0].decode()!r} with {reply.status}.")
    return peer


def _times(outcome: Outcome) -> str:
    ours = outcome.servers["catalog"].cpu_us
    peers = {name: it for name, it in outcome.servers.items() if name[0].isupper()}
    return ", ".join(
        f"{name} takes {it.cpu_us / ours:,.0f} times as much CPU" for name, it in peers.items()
    )


@contextlib.contextmanager
def _verdaccio(rig: Rig, program: Path, folder: Path) -> Iterator[Server]:
    port = free_port()
    command = [_node(), str(program), "--config", str(folder / "config.yaml")]
    with running_other(rig, [*command, "--listen", f"127.0.0.1:{port}"], port, "/-/ping") as other:
        yield other


@contextlib.contextmanager
def _datasette(rig: Rig, program: Path, folder: Path) -> Iterator[Server]:
    port = free_port()
    command = [str(program), "serve", "--immutable", str(folder / "catalog.db")]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    with running_other(rig, command, port, "/-/versions.json") as server:
        yield server


def _node() -> str:
    """Node.js itself: the `node` of our environment is a script that does not pass signals on."""
    return _output("node", "--print", "process.execPath")


def _install_verdaccio() -> Path:
    if shutil.which("npm") is None:
        raise BenchError("npm is not installed; --peers needs it for Verdaccio.")
    folder = _FOLDER / "verdaccio"
    wanted = json.dumps(_PACKAGE, indent=2)
    stamp = folder / "installed"
    if not stamp.exists() or stamp.read_text() != wanted:
        say("Installing Verdaccio (once) …")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "package.json").write_text(wanted)
        _run(["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder)])
        stamp.write_text(wanted)
    return folder / "node_modules" / "verdaccio" / "bin" / "verdaccio"


def _verdaccio_version(program: Path) -> str:
    described = json.loads((program.parents[1] / "package.json").read_text())
    return f"Verdaccio {described['version']}"


def _install_datasette() -> Path:
    folder = _FOLDER / "datasette"
    stamp = folder / "installed"
    if not stamp.exists() or stamp.read_text() != _DATASETTE:
        say("Installing Datasette (once) …")
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        _run([str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", _DATASETTE])
        stamp.write_text(_DATASETTE)
    return folder / "bin" / "datasette"


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise BenchError(f"{command[0]} failed: {(done.stderr or done.stdout).strip()}")


def _output(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
