"""A service manager that holds the socket of the service, as systemd does."""

import contextlib
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from support.service import Service

# The sockets become descriptors 3 and so on, and the variables name the process itself.
_ACTIVATE = """
import fcntl, os, sys
# Out of the way first.
given = [fcntl.fcntl(int(it), fcntl.F_DUPFD, 100) for it in sys.argv[1].split()]
for number, descriptor in enumerate(given):
    os.dup2(descriptor, 3 + number)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(given)))
os.execv(sys.argv[2], sys.argv[2:])
"""


@contextlib.contextmanager
def listening_socket() -> Iterator[socket.socket]:
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", 0))
        listening.listen(1024)
        yield listening


def activated_service(
    data: Path,
    listening: socket.socket,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
) -> Service:
    passed = passing([listening])
    port = listening.getsockname()[1]
    return Service(data, *arguments, port=port, environment=environment, **passed)


class Passed(TypedDict):
    """How a process is started that gets sockets."""

    through: tuple[str, ...]
    pass_fds: tuple[int, ...]


def passing(sockets: Sequence[socket.socket]) -> Passed:
    descriptors = tuple(it.fileno() for it in sockets)
    named = " ".join(map(str, descriptors))
    return {"through": (sys.executable, "-c", _ACTIVATE, named), "pass_fds": descriptors}
