"""NameLookups: addresses of hosts, with a timeout and limits."""

import threading
from collections import Counter
from concurrent.futures import Future

from ..core.networks import Resolve, resolve

_MOST = 32
_MAX_PER_OWNER = 4


class TooManyLookups(Exception):
    """The limit of pending lookups is reached."""


class NameLookups:
    """Used by several threads.

    The system's resolver has its own timeouts, and cannot be cancelled. A lookup that takes too
    long is abandoned: its thread lives until the resolver gives up. So each owner may have only
    few at a time, or dead name servers would take the threads that other owners need.
    """

    def __init__(self, resolve: Resolve = resolve) -> None:
        self._resolve = resolve
        self._lock = threading.Lock()
        self._running: Counter[str] = Counter()

    def addresses_of(self, host: str, port: int, owner: str, timeout_s: float) -> list[str]:
        """Raises TimeoutError, TooManyLookups, or the resolver's error."""
        response: Future[list[str]] = Future()

        def look_up() -> None:
            try:
                addresses = self._resolve(host, port)
            except Exception as error:
                self._end(owner)
                response.set_exception(error)
            else:
                self._end(owner)
                response.set_result(addresses)

        with self._lock:
            if self._running.total() >= _MOST or self._running[owner] >= _MAX_PER_OWNER:
                raise TooManyLookups
            self._running[owner] += 1
        try:
            # A daemon thread does not delay the end of the process.
            threading.Thread(target=look_up, name="webhook look-up", daemon=True).start()
        except RuntimeError:  # No more threads can be started.
            self._end(owner)
            raise TooManyLookups from None
        return response.result(timeout_s)

    def _end(self, owner: str) -> None:
        with self._lock:
            self._running[owner] -= 1
            if not self._running[owner]:
                del self._running[owner]
