"""The real service in a separate process, for tests that need a socket or a signal."""

import contextlib
import http.client
import itertools
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import httpx

from support.preloaded import PreloadedProcess, can_be_preloaded, run_module

# For clients without TLS: loading the system's certificates takes 30 ms for each of them.
NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

_START_TIMEOUT_S = 120


# Ports below the range for outgoing connections, so that a restarted service finds its port free.
# A port may be taken between the check and its use, and services may share ports: so each process
# of a test run has its own range, and does not reuse a port for a long time. Browsers block 10080
# as unsafe.
_FIRST_PORT = 10_100
_PORTS_PER_PROCESS = 2_480
_PROCESSES = 9
_next_port = itertools.count(os.getpid() * 37)


def free_port() -> int:
    process = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % _PROCESSES
    first = _FIRST_PORT + process * _PORTS_PER_PROCESS
    while True:
        port = first + next(_next_port) % _PORTS_PER_PROCESS
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class Service:
    """A running `widget-catalog serve`. `log` is its output so far."""

    def __init__(
        self,
        data: Path,
        *arguments: str,
        port: int | None = None,
        environment: Mapping[str, str] | None = None,
        before: Callable[[], None] | None = None,
        through: tuple[str, ...] = (),
        pass_fds: tuple[int, ...] = (),
        module: tuple[str, ...] = ("widget_catalog",),
    ) -> None:
        """`before` runs in the new process, before the program; `through` is a program that starts
        the service; `module` is what to run instead of it, with its first arguments.
        """
        self.data = data
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log_file = data.parent / f"service-{self.port}.log"
        command = [*module, "serve", "--data", str(data), "--port", str(self.port)]
        command += arguments
        is_plain = before is None and not through and not pass_fds and len(module) == 1
        self.process: subprocess.Popen[bytes] | PreloadedProcess
        # A separate process group, so that it can be killed with its workers.
        with self.log_file.open("ab") as log:
            given = clean_environment(environment)
            if is_plain and can_be_preloaded(environment):
                self.process = PreloadedProcess(*command, environment=given, log=log)
            else:
                self.process = subprocess.Popen(
                    [*through, sys.executable, "-m", *command],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    env=given,
                    preexec_fn=before,
                    pass_fds=pass_fds,
                )
        try:
            wait_until_it_responses(self.process, self.port, "/api/health")
            # The first worker responds before the others are forked.
            if "--workers" in arguments:
                workers = int(arguments[arguments.index("--workers") + 1])
                wait_for(lambda: len(self.worker_pids()) >= workers, _START_TIMEOUT_S)
        except (RuntimeError, AssertionError, OSError) as error:
            self.kill()
            raise RuntimeError(f"{error} It said:\n{self.log}") from None

    @property
    def log(self) -> str:
        return self.log_file.read_text(errors="replace")

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=60, verify=NO_CERTIFICATES)

    def stop(self, timeout_s: float = 120) -> int:
        """SIGTERM, as an operator or systemd would; returns the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout_s)

    def kill(self) -> None:
        """SIGKILL to all processes at once; returns when none of them has the port any more."""
        workers = self.worker_pids() if self.process.poll() is None else []
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(60)
        wait_for(lambda: not any(map(is_running, workers)))

    def is_gone(self) -> bool:
        """Whether no process of it is left, including workers."""
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            return True
        return False

    def worker_pids(self) -> list[int]:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        try:
            return [int(pid) for pid in children.read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            return []  # It has ended.


def wait_until_it_responses(
    process: subprocess.Popen[bytes] | PreloadedProcess, port: int, path: str
) -> None:
    """Until a server that was just started responds to a request for this path, with any status."""
    deadline = time.monotonic() + _START_TIMEOUT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError("The server ended at once.")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        with (
            contextlib.closing(connection),
            contextlib.suppress(OSError, http.client.HTTPException),
        ):
            connection.request("GET", path)
            connection.getresponse().read()
            return
        time.sleep(0.02)
    raise RuntimeError(f"The server did not answer in {_START_TIMEOUT_S} s.")


@contextlib.contextmanager
def running_service(
    data: Path,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    before: Callable[[], None] | None = None,
    through: tuple[str, ...] = (),
) -> Iterator[Service]:
    service = Service(data, *arguments, environment=environment, before=before, through=through)
    try:
        yield service
    finally:
        service.kill()


def run_command(
    *arguments: str,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    before: Callable[[], None] | None = None,
    folder: Path | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run `widget-catalog` with these arguments to its end, in this folder."""
    environ = clean_environment(environment)
    if before is None:
        return run_module(
            "widget_catalog",
            *arguments,
            stdin=stdin,
            environ=environ,
            environment=environment,
            folder=folder,
        )
    return subprocess.run(
        [sys.executable, "-m", "widget_catalog", *arguments],
        input=stdin,
        capture_output=True,
        timeout=300,
        env=environ,
        preexec_fn=before,
        cwd=folder,
        check=False,
    )


def clean_environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment without any setting of the service, plus these.

    Output is unbuffered, whatever the machine's own environment says.
    """
    kept = {
        key: value for key, value in os.environ.items() if not key.startswith("WIDGET_CATALOG_")
    }
    return {**kept, "NO_COLOR": "1", "PYTHONUNBUFFERED": "1", **(more or {})}


def wait_for(condition: Callable[[], object], timeout_s: float = 60) -> None:
    """Until this is true; fails if it takes longer."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "It did not happen in time."
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    """A process that has ended may still be listed, as a zombie, until its parent waits for it."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return "State:\tZ" not in status
