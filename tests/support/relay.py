"""A relay between a node and a server it needs, so that a test can interrupt the connection."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from typing import Self

from support.service import free_port

Address = str | tuple[str, int]
"""Of a Unix socket, or a host and a port."""


class Relay:
    """Forwards all data. `cut` simulates a server that is down, `silence` one that hangs."""

    def __init__(self, target: Address, delay_s: float = 0) -> None:
        """`delay_s`: of everything that the server sends."""
        self._target = target
        self.delay_s = delay_s
        self.port = free_port()
        self._speaks = threading.Event()
        self._speaks.set()
        self._open: set[socket.socket] = set()
        self._listening: socket.socket | None = None
        self.restore()

    def restore(self) -> None:
        self._speaks.set()
        if self._listening is None:
            self._listening = socket.create_server(("127.0.0.1", self.port))
            threading.Thread(target=self._accept, args=(self._listening,), daemon=True).start()

    def cut(self) -> None:
        if self._listening is not None:
            # A thread that waits in accept would keep it open.
            with contextlib.suppress(OSError):
                self._listening.shutdown(socket.SHUT_RDWR)
            self._listening.close()
            self._listening = None
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def silence(self) -> None:
        self._speaks.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._speaks.set()
        self.cut()

    def _accept(self, listening: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listening.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, self._connected() as server:
            self._open |= {client, server}
            responses = (server, client, True)
            back = threading.Thread(target=self._pass_on, args=responses, daemon=True)
            back.start()
            self._pass_on(client, server)
            back.join()
            self._open -= {client, server}

    @contextlib.contextmanager
    def _connected(self) -> Iterator[socket.socket]:
        is_local = isinstance(self._target, str)
        with socket.socket(socket.AF_UNIX if is_local else socket.AF_INET) as server:
            server.connect(self._target)
            yield server

    def _pass_on(
        self, source: socket.socket, target: socket.socket, is_response: bool = False
    ) -> None:
        with contextlib.suppress(OSError):
            while chunk := source.recv(1 << 16):
                self._speaks.wait()
                time.sleep(self.delay_s if is_response else 0)
                target.sendall(chunk)
        for connection in (source, target):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
