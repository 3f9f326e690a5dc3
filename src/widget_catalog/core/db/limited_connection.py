"""LimitedConnection: a connection to PostgreSQL that does not wait without end.

A server whose processes hang still acknowledges packets: the timeouts of TCP do not help, and
those of the server do not work. libpq has no timeout for a response.
"""

import time
from collections.abc import Callable
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen

T = TypeVar("T")


class LimitedConnection(psycopg.Connection[Any]):
    _longest_s: float | None = None
    _lost_at_s: Callable[[], float] | None = None
    _opened_at: float = 0.0

    def limit(self, longest_s: float | None, lost_at_s: Callable[[], float] | None = None) -> None:
        """From now on, a wait fails if it takes longer than this, or as soon as `lost_at_s`, a
        time of the monotonic clock, is after this call. The connection is closed then, because
        the response may come later.
        """
        self._longest_s, self._lost_at_s = longest_s, lost_at_s
        self._opened_at = time.monotonic()

    def wait(self, gen: PQGen[T], *given: Any, **named: Any) -> T:
        return super().wait(self._limited(gen), *given, **named)

    def _limited(self, gen: PQGen[T]) -> PQGen[T]:
        """What is waited for; the driver resumes it ten times per second without a response."""
        began = time.monotonic()
        response: Any = None
        try:
            while True:
                if not response:
                    self._require_server(began)
                response = yield gen.send(response)
        except StopIteration as ended:
            result: T = ended.value
            return result

    def _require_server(self, began: float) -> None:
        is_late = self._longest_s is not None and time.monotonic() - began > self._longest_s
        is_lost = self._lost_at_s is not None and self._lost_at_s() > self._opened_at
        if is_late or is_lost:
            self.close()
            raise psycopg.OperationalError("The server does not respond.")
