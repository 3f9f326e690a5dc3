"""Commands of ours in processes forked from one that has loaded our code already.

Most of what a short command costs is loading, and tests run more than a thousand of them. Each
still has a process, an environment, a folder and streams of its own.

`preloaded_command()` gives a command line for `subprocess`: a tiny program that passes its
arguments, environment, folder and streams on to the server, which forks, and then ends as the
forked process did. Signals are not passed on.
"""

import atexit
import functools
import importlib
import io
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Mapping
from typing import Any, NoReturn

_PACKAGES = ("widget_catalog", "widget_cli", "widget_contract")
_NOT_LOADED = ("__main__", ".migrations.env")  # What runs when it is loaded.
_READ_LATE = ("WIDGET_", "HOME", "XDG_")
_CLIENT = """
import json, os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect("\\0" + sys.argv[1])
umask = os.umask(0)
request = {"argv": sys.argv[2:], "environ": dict(os.environ), "folder": os.getcwd(), "umask": umask}
with server.makefile("wb") as sent:
    sent.write(json.dumps(request).encode() + b"\\n")
    sent.flush()
    socket.send_fds(server, [b"x"], [0, 1, 2])
code = int(server.recv(16) or 255)
if code < 0:
    os.kill(os.getpid(), -code)
os._exit(code)
"""


def preloaded_command(
    module: str, *arguments: str, environment: Mapping[str, str] | None = None
) -> list[str]:
    """A command line that does what `python -m MODULE ARGUMENTS` does.

    With a variable that is read while code is loaded, such as COLUMNS or LANG, it is just that.
    """
    if not all(name.startswith(_READ_LATE) for name in environment or ()):
        return [sys.executable, "-m", module, *arguments]
    # Isolated, without site: the smallest start that Python has.
    return [sys.executable, "-ISc", _CLIENT, _server_address(), module, *arguments]


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
    atexit.register(_end, server)
    address: bytes = listening.getsockname()
    listening.close()
    return address[1:].decode()


def _end(server: subprocess.Popen[bytes]) -> None:
    assert server.stdin is not None
    server.stdin.close()
    server.wait(10)


def _serve(listening: socket.socket) -> None:
    """Fork for each request, until standard input is closed."""
    for package in map(importlib.import_module, _PACKAGES):
        for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if not found.name.endswith(_NOT_LOADED):
                importlib.import_module(found.name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # Nobody has to wait for them.
    while True:
        readable, _, _ = select.select([listening, sys.stdin], [], [])
        if sys.stdin in readable:
            return
        connection, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            _attend(connection)
        connection.close()


def _attend(connection: socket.socket) -> NoReturn:
    """Run one command and say how it ended. A client that goes away takes it along."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with connection.makefile("rb", buffering=0) as received:
        request = json.loads(received.readline())
    _, streams, _, _ = socket.recv_fds(connection, 1, 3)
    pid = os.fork()
    if pid == 0:
        connection.close()
        _run(request, streams)
    for stream in streams:
        os.close(stream)
    ended = os.pidfd_open(pid)
    readable: list[int] = select.select([ended, connection.fileno()], [], [])[0]
    if ended not in readable:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    connection.sendall(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _run(request: dict[str, Any], streams: list[int]) -> NoReturn:
    """Become a process that could have been started by its command line."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    module, *arguments = request["argv"]
    os.environ.clear()
    os.environ.update(request["environ"])
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
        importlib.import_module(f"{module}.main").run()
    except SystemExit as done:
        code = int(done.code or 0)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
