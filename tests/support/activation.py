"""A service manager that holds the socket of the service, as systemd does."""

import contextlib
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

from support.service import Service

# The socket becomes descriptor 3, and the variables name the process itself.
_ACTIVATE = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
os.execv(sys.argv[2], sys.argv[2:])
"""


@contextlib.contextmanager
def listening_socket() -> Iterator[socket.socket]:
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", 0))
        listening.listen(1024)
        yield listening


def activated_service(data: Path, listening: socket.socket, *arguments: str) -> Service:
    descriptor = listening.fileno()
    return Service(
        data,
        *arguments,
        port=listening.getsockname()[1],
        through=(sys.executable, "-c", _ACTIVATE, str(descriptor)),
        pass_fds=(descriptor,),
    )
