"""Runs our commands in processes forked from one that has already imported our code.

Imports are most of the cost of a short command or the start of a service, and tests run more than
a thousand of them. Each still has its own process, environment, folder and streams.

`run_module()` runs one to its end, like `subprocess.run`.

`PreloadedProcess` is a running one in its own session, to be watched and signalled like one of
`subprocess`.
"""

import atexit
import contextlib
import functools
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, NoReturn

import typer.main
import typer.utils

from support.passwords import QUICK, REAL, REAL_PASSWORDS, use_hasher
from widget_catalog.app.features import install_features
from widget_catalog.core.features import list_contributions
from widget_catalog.core.http.page_templates import compile_public_templates
from widget_catalog.pages.pages import load_for_pages

_PACKAGES = ("widget_catalog", "widget_cli", "widget_contract")
_NOT_LOADED = ("__main__", ".migrations.env")  # Modules that run when they are imported.
# COLUMNS is for --help, for which Typer makes a new console.
_READ_LATE = ("WIDGET_", "HOME", "XDG_", "COLUMNS")


def run_module(
    module: str,
    *arguments: str,
    stdin: bytes = b"",
    environ: Mapping[str, str],
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    timeout_s: float = 200,
) -> subprocess.CompletedProcess[bytes]:
    """Run `python -m MODULE ARGUMENTS` to its end, in a fork. With a variable in `environment` that
    is read while code is loaded, such as LANG, it is a new process.
    """
    if not can_be_preloaded(environment):
        return subprocess.run(
            [sys.executable, "-m", module, *arguments],
            input=stdin,
            capture_output=True,
            timeout=timeout_s,
            env=environ,
            cwd=folder,
            check=False,
        )
    given, sent = os.pipe()
    (out, said), (err, complained) = os.pipe(), os.pipe()
    # The threads read until the process ends. If anything is raised here, the connection has to be
    # closed first: then the server kills the process.
    with (
        ThreadPoolExecutor(3) as threads,
        contextlib.closing(_connect(module, *arguments, environ=environ, folder=folder)) as server,
    ):
        socket.send_fds(server, [b"x"], [given, said, complained])
        for descriptor in (given, said, complained):
            os.close(descriptor)
        threads.submit(_write, sent, stdin)
        read = [threads.submit(_read, it) for it in (out, err)]
        if not select.select([server], [], [], timeout_s)[0]:
            raise subprocess.TimeoutExpired([module, *arguments], timeout_s)
        code = int(server.recv(16) or 255)
    return subprocess.CompletedProcess([module, *arguments], code, *(it.result() for it in read))


def _write(descriptor: int, content: bytes) -> None:
    # It may end without reading everything.
    with contextlib.suppress(BrokenPipeError), os.fdopen(descriptor, "wb") as stream:
        stream.write(content)


def _read(descriptor: int) -> bytes:
    with os.fdopen(descriptor, "rb") as stream:
        return stream.read()


def _connect(
    *argv: str, environ: Mapping[str, str], folder: Path | None = None, is_session: bool = False
) -> socket.socket:
    """A connection to the server, which then waits for the three streams of the process."""
    request = {
        "argv": argv,
        "environ": dict(environ),
        "folder": str(folder or Path.cwd()),
        "umask": _umask(),
        "is_session": is_session,
    }
    server = socket.socket(socket.AF_UNIX)
    server.connect(f"\0{_server_address()}")
    server.sendall(json.dumps(request).encode() + b"\n")
    return server


def can_be_preloaded(environment: Mapping[str, str] | None) -> bool:
    """Whether none of these variables is read while code is loaded."""
    return all(name.startswith(_READ_LATE) for name in environment or ())


class PreloadedProcess:
    """Like `python -m MODULE ARGUMENTS`. It ends with this process, however that ends."""

    def __init__(
        self, module: str, *arguments: str, environment: Mapping[str, str], log: IO[bytes]
    ) -> None:
        self.returncode: int | None = None
        self._server = _connect(module, *arguments, environ=environment, is_session=True)
        with Path(os.devnull).open("rb") as nothing:
            streams = [nothing.fileno(), log.fileno(), log.fileno()]
            socket.send_fds(self._server, [b"x"], streams)
        self._said = self._server.makefile("rb")
        self.pid = int(self._said.readline())

    def poll(self) -> int | None:
        if self.returncode is None and select.select([self._server], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self, timeout_s: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._server], [], [], timeout_s)[0]:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout_s or 0)
            self.returncode = int(self._said.readline())
            self._said.close()
            self._server.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask


_server_pids: list[int] = []


def server_pid() -> int | None:
    """The process whose forks run everything, if it was started."""
    return _server_pids[0] if _server_pids else None


@functools.cache
def _server_address() -> str:
    """Start this process's server. It ends with this process, however that ends."""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind("")  # The system chooses a name.
    listening.listen(64)
    server = subprocess.Popen(
        [sys.executable, "-m", "support.preloaded", str(listening.fileno())],
        stdin=subprocess.PIPE,
        pass_fds=[listening.fileno()],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "NO_COLOR": "1"},
    )
    _server_pids.append(server.pid)
    atexit.register(_end, server)
    address: bytes = listening.getsockname()
    listening.close()
    return address[1:].decode()


def _end(server: subprocess.Popen[bytes]) -> None:
    assert server.stdin is not None
    server.stdin.close()
    server.wait(60)


def _serve(listening: socket.socket) -> None:
    """Fork for each request, until standard input is closed."""
    for package in map(importlib.import_module, _PACKAGES):
        for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if not found.name.endswith(_NOT_LOADED):
                importlib.import_module(found.name)
    _examine_commands()
    # Most of what a service does when it starts.
    install_features()
    compile_public_templates(list_contributions())
    load_for_pages()
    use_hasher(QUICK)
    # A collection in a fork would write to every object, and so copy all this memory.
    gc.collect()
    gc.freeze()
    ended = _ended_processes()
    while True:
        readable, _, _ = select.select([listening, sys.stdin, ended], [], [])
        if ended in readable:
            ended.recv(4096)
            _forget_ended()
        if sys.stdin in readable:
            return
        if listening not in readable:
            continue
        connection, _ = listening.accept()
        if os.fork() == 0:
            os.close(signal.set_wakeup_fd(-1))
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listening.close()
            ended.close()
            _attend(connection)
        connection.close()


def _ended_processes() -> socket.socket:
    """Can be read when a process has ended: its CPU time belongs to the test that ended it."""
    ended, tells = socket.socketpair()
    tells.setblocking(False)
    signal.set_wakeup_fd(tells.detach(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return ended


def _examine_commands() -> None:
    """Once for all forks: Typer examines the functions of all commands at each start, for longer
    than most commands take.
    """
    examined = functools.cache(typer.utils.get_params_from_function)
    vars(typer.main)["get_params_from_function"] = examined
    for name in ("widget_cli.main", "widget_catalog.app.main"):
        typer.main.get_command(importlib.import_module(name).app)


def _forget_ended() -> None:
    """Wait for ended processes, so that their CPU time counts as that of the test run."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _attend(connection: socket.socket) -> NoReturn:
    """Run one command and report how it ended. It is killed if the client disconnects."""
    os.setsid()  # It survives a Ctrl-C that ends the tests, to report how the command ended.
    with connection.makefile("rb", buffering=0) as received:
        request = json.loads(received.readline())
    _, streams, _, _ = socket.recv_fds(connection, 1, 3)
    is_session = request["is_session"]
    pid = os.fork()
    if pid == 0:
        if is_session:
            os.setsid()
            connection.sendall(f"{os.getpid()}\n".encode())
        connection.close()
        _run(request, streams)
    for stream in streams:
        os.close(stream)
    ended = os.pidfd_open(pid)
    readable: list[int] = select.select([ended, connection.fileno()], [], [])[0]
    if ended not in readable:
        (os.killpg if is_session else os.kill)(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    with contextlib.suppress(ConnectionError):
        connection.sendall(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _run(request: dict[str, Any], streams: list[int]) -> NoReturn:
    """Become a process as if started by its command line."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    module, *arguments = request["argv"]
    os.environ.clear()
    os.environ.update(request["environ"])
    if REAL_PASSWORDS in os.environ:
        use_hasher(REAL)
    os.umask(request["umask"])
    os.chdir(request["folder"])
    time.tzset()
    sys.argv = [f"{module}/__main__.py", *arguments]
    sys.stdin = os.fdopen(0, encoding="utf-8")
    is_unbuffered = bool(os.environ.get("PYTHONUNBUFFERED"))
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(
            io.FileIO(number, "w") if is_unbuffered else io.BufferedWriter(io.FileIO(number, "w")),
            encoding="utf-8",
            errors=errors,
            write_through=is_unbuffered,
        )
        for number, errors in ((1, "strict"), (2, "backslashreplace"))
    )
    code = 0
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as done:
        code = int(done.code or 0)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    if request["is_session"]:
        sys.exit(code)  # It waits for its threads, like any other process.
    os._exit(code)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
