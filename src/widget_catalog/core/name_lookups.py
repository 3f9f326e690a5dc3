"""NameLookups: DNS lookups with a timeout.

The system's resolver has its own timeouts, and cannot be cancelled. A lookup that takes too long
is abandoned: its thread lives until the resolver gives up. So each owner may have only few at a
time, or dead name servers would take the threads that other owners need.
"""

import socket
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future

_MOST = 32
_MAX_PER_OWNER = 4

Resolve = Callable[[str, int], list[str]]


class TooManyLookups(Exception):
    """The limit of pending lookups is reached."""


def resolve(host: str, port: int) -> list[str]:
    """Every address of a host, by the system's resolver."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(it[4][0]) for it in found))


class NameLookups:
    """Used by several threads."""

    def __init__(self, resolve: Resolve = resolve) -> None:
        self._resolve = resolve
        self._lock = threading.Lock()
        self._running: Counter[str] = Counter()

    def addresses_of(self, host: str, port: int, owner: str, timeout_s: float) -> list[str]:
        """Raises TimeoutError, TooManyLookups, or the resolver's error."""
        answer: Future[list[str]] = Future()

        def look_up() -> None:
            try:
                addresses = self._resolve(host, port)
            except Exception as fault:
                self._end(owner)
                answer.set_exception(fault)
            else:
                self._end(owner)
                answer.set_result(addresses)

        self._begin(owner)
        try:
            # A daemon thread does not delay the end of the process.
            threading.Thread(target=look_up, name="webhook look-up", daemon=True).start()
        except RuntimeError:  # No more threads can be started.
            self._end(owner)
            raise TooManyLookups from None
        return answer.result(timeout_s)

    def _begin(self, owner: str) -> None:
        with self._lock:
            if self._running.total() >= _MOST or self._running[owner] >= _MAX_PER_OWNER:
                raise TooManyLookups
            self._running[owner] += 1

    def _end(self, owner: str) -> None:
        with self._lock:
            self._running[owner] -= 1
            if not self._running[owner]:
                del self._running[owner]
