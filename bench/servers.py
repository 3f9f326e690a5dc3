"""The measured servers, each a separate process: catalog, bare server, nginx."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from .client import Connection, Reply, request
from .machine import children_of, on_core
from .measures import BenchError
from .rig import ROOT, Rig, free_port

_START_TIMEOUT_S = 120.0
_STOP_TIMEOUT_S = 30.0

_NGINX = """\
daemon off;
{user}
worker_processes 1;
pid "{folder}/nginx.pid";
error_log "{folder}/nginx.log";
events {{ worker_connections 4096; }}
http {{
    access_log off;
    default_type application/json;
    sendfile on;
    tcp_nopush on;
    tcp_nodelay on;
    keepalive_timeout 1h;
    keepalive_requests 1000000000;
    open_file_cache max=1000 inactive=1h;
    open_file_cache_valid 1h;
    client_body_temp_path "{folder}/nginx-body";
    proxy_temp_path "{folder}/nginx-proxy";
    fastcgi_temp_path "{folder}/nginx-fastcgi";
    uwsgi_temp_path "{folder}/nginx-uwsgi";
    scgi_temp_path "{folder}/nginx-scgi";
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        root "{folder}/nginx";
    }}
}}
"""


class Server:
    """A running server and where it listens."""

    def __init__(self, process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
        self.process = process
        self.port = port
        self._log = log

    def ask(self, raw: bytes) -> Reply:
        with Connection(self.port) as connection:
            return connection.ask(raw)

    def worker_pids(self) -> list[int]:
        return children_of(self.process.pid)

    def pids(self) -> list[int]:
        return [self.process.pid, *self.worker_pids()]

    def serving_pids(self) -> list[int]:
        """The processes that handle requests: workers, or the one process of a server without."""
        return self.worker_pids() or [self.process.pid]

    def wait_for(self, raw: bytes, within_s: float = _START_TIMEOUT_S) -> Reply:
        """The first response."""
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise BenchError(f"A server ended at once: {self._log.read_text().strip()}")
            with contextlib.suppress(ConnectionError):
                return self.ask(raw)
            time.sleep(0.002)
        raise BenchError(f"A server did not answer in {within_s:.0f} s.")

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@contextlib.contextmanager
def running_catalog(
    rig: Rig, data: Path, workers: int = 1, settings: Mapping[str, str] | None = None
) -> Iterator[Server]:
    """The real service, as an operator starts it."""
    with starting_catalog(rig, data, workers, settings) as server:
        server.wait_for(request("/api/v1/widgets/search?limit=1"))
        yield server


@contextlib.contextmanager
def starting_catalog(
    rig: Rig, data: Path, workers: int = 1, settings: Mapping[str, str] | None = None
) -> Iterator[Server]:
    """A service that was started, and may not respond yet."""
    port = free_port()
    command = [*catalog_command("serve"), "--data", str(data), "--port", str(port)]
    environment = environment_of(settings or {})
    with _running(rig, [*command, "--workers", str(workers)], port, environment) as server:
        yield server


@contextlib.contextmanager
def running_bare(rig: Rig, status: int, body: bytes) -> Iterator[Server]:
    port = free_port()
    body_file = rig.folder / "bare-body"
    body_file.write_bytes(body)
    command = [sys.executable, "-m", "bench.bare", str(port), str(status), str(body_file)]
    with _running(rig, command, port) as server:
        server.wait_for(request("/"))
        yield server


@contextlib.contextmanager
def running_nginx(rig: Rig, body: bytes) -> Iterator[Server]:
    """nginx with one worker, serving this body as `/body`."""
    program = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
    if program is None:
        raise BenchError("nginx is not installed.")
    port = free_port()
    (rig.folder / "nginx").mkdir(exist_ok=True)
    (rig.folder / "nginx" / "body").write_bytes(body)
    # As root, its worker would switch to a user that cannot read our folder.
    user = "user root;" if os.geteuid() == 0 else ""
    config = rig.folder / "nginx.conf"
    config.write_text(_NGINX.format(user=user, folder=rig.folder, port=port))
    with _running(rig, [program, "-c", str(config), "-e", "stderr"], port) as server:
        reply = server.wait_for(request("/body"))
        if reply.status != 200 or reply.body != body:
            raise BenchError(f"nginx does not serve the body: {reply.head.decode()!r}")
        yield server


@contextlib.contextmanager
def running_other(rig: Rig, command: Sequence[str], port: int, target: str) -> Iterator[Server]:
    """Another server, once it responds to a request for this."""
    with _running(rig, command, port) as server:
        reply = server.wait_for(request(target))
        if reply.status != 200:
            raise BenchError(f"{command[0]} answers {target} with {reply.status}.")
        yield server


def catalog_command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "widget_catalog", *arguments]


def environment_of(settings: Mapping[str, str]) -> dict[str, str]:
    """An environment with only these settings."""
    given = {f"WIDGET_CATALOG_{name.upper()}": value for name, value in settings.items()}
    return clean_environment() | given


def clean_environment() -> dict[str, str]:
    """Without settings of this shell that would affect the measurements.

    Without a bytecode cache, Python would compile everything at every start.
    """
    ours = ("WIDGET_CATALOG_", "PYTHONDONTWRITEBYTECODE")
    kept = {key: it for key, it in os.environ.items() if not key.startswith(ours)}
    return {**kept, "NO_COLOR": "1"}


@contextlib.contextmanager
def _running(
    rig: Rig, command: Sequence[str], port: int, environment: Mapping[str, str] | None = None
) -> Iterator[Server]:
    log = rig.folder / f"server-{port}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            on_core(rig.cores.server, command),
            stdout=output,
            stderr=output,
            cwd=ROOT,
            env=environment or clean_environment(),
            start_new_session=True,
        )
    server = Server(process, port, log)
    try:
        yield server
    finally:
        server.stop()
