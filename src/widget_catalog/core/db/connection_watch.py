"""ConnectionWatch: closes connections that are stuck.

A server whose processes hang still acknowledges packets, so TCP timeouts do not help; and a commit
may wait for a lost standby. When a connection is shut down, the thread that waits on it gets an
error immediately.
"""

import contextlib
import os
import socket
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

_LOOK_EVERY_S = 0.5
# No transaction of a request takes this long.
LONGEST_S = 20.0


class ConnectionWatch:
    """One per process, with its own thread. Connections opened before `stale_before_s`, a time of
    the monotonic clock, will never respond.
    """

    def __init__(self, stale_before_s: Callable[[], float]) -> None:
        self._stale_before_s = stale_before_s
        self._lock = threading.Lock()
        self._made_at: weakref.WeakKeyDictionary[Any, float] = weakref.WeakKeyDictionary()
        self._deadlines: dict[object, tuple[float, Any]] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="connections", daemon=True)
        self._thread.start()

    def watch(self, engine: Engine) -> None:
        """Watch all new connections of this engine, from their first statement."""

        @sa.event.listens_for(engine, "connect", insert=True)
        def add(made: Any, _record: Any) -> None:
            self.add(made)

    def add(self, made: Any) -> None:
        """A connection of the driver."""
        with self._lock:
            self._made_at[made] = time.monotonic()

    @contextlib.contextmanager
    def limited(self, connection: Connection) -> Iterator[None]:
        """Shut this connection down if the block takes too long."""
        mark = object()
        until = time.monotonic() + LONGEST_S
        with self._lock:
            self._deadlines[mark] = (until, connection.connection.dbapi_connection)
        try:
            yield
        finally:
            with self._lock:
                del self._deadlines[mark]

    def close(self) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(_LOOK_EVERY_S):
            now = time.monotonic()
            with self._lock:
                late = [it for until, it in self._deadlines.values() if until < now]
                before = self._stale_before_s()
                late += [it for it, at in self._made_at.items() if at < before]
            for made in late:
                _shut_down(made)


def _shut_down(made: Any) -> None:
    """Called from another thread than the connection's, which is responsible for closing it."""
    if made.closed:
        return
    with (
        contextlib.suppress(Exception),  # It may just have been closed.
        socket.socket(fileno=os.dup(made.fileno())) as duplicate,
    ):
        duplicate.shutdown(socket.SHUT_RDWR)
