"""Health of this node for load balancers: `/healthz/live` and `/healthz/ready`, a line each."""

import time
from collections.abc import Callable

from ...core.errors import StoreUnavailable
from ...core.http.http import NOSNIFF, Request, Response
from ..catalog import Catalog
from .health import TOO_LONG_S

PREFIX = "/healthz/"
LIVE, READY = "/healthz/live", "/healthz/ready"
_HEADERS = [
    ("content-type", "text/plain; charset=utf-8"),
    ("cache-control", "no-store"),
    NOSNIFF,
]


class Healthz:
    """`find_delay` returns why not all changes are visible yet, if so; `find_silence_s`, how long
    the shared database has not responded; `is_read_only`, whether it responds but accepts no
    writes; `is_outdated`, whether a newer release has migrated it; `blocked_s`, how long another
    process has been writing.
    """

    def __init__(
        self,
        catalog: Catalog,
        find_delay: Callable[[], str | None],
        max_lag_s: int,
        find_silence_s: Callable[[], float] = lambda: 0.0,
        max_silence_s: int = 0,
        is_read_only: Callable[[], bool] = lambda: False,
        is_outdated: Callable[[], bool] = lambda: False,
        blocked_s: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._catalog = catalog
        self._find_delay = find_delay
        self._max_lag_s = max_lag_s
        self._find_silence_s = find_silence_s
        self._max_silence_s = max_silence_s
        self._is_read_only = is_read_only
        self._is_outdated = is_outdated
        self._blocked_s = blocked_s
        self._behind_since: float | None = None
        self.is_draining = False

    def answer(self, request: Request) -> Response:
        if request.path not in (LIVE, READY):
            return _line(404, "Not found.")
        if request.method not in ("GET", "HEAD"):
            response = _line(405, "Use GET or HEAD.")
            return response._replace(headers=[*response.headers, ("allow", "GET, HEAD")])
        if request.path == LIVE:
            response = _line(200, "ok")
        else:
            fault = self._find_fault()
            response = _line(200, self._describe()) if fault is None else _line(503, fault)
        return response._replace(body=None) if request.method == "HEAD" else response

    def _find_fault(self) -> str | None:
        """Why this node should not receive reads."""
        if self.is_draining:
            return "draining: this worker is about to end"
        try:
            self._catalog.check()
        except StoreUnavailable:
            return "the read model cannot be read"
        if self._lag_s() > self._max_lag_s:
            return "behind: not all changes can be shown"
        if 0 < self._max_silence_s < self._find_silence_s():
            return f"cut off: {self._describe_silence()}"
        return None

    def _describe(self) -> str:
        if self._find_silence_s():
            return f"ok, but {self._describe_silence()}"
        if self._is_outdated():
            return "ok, but nothing can be changed here: the database is of a newer release"
        if (blocked_s := self._blocked_s()) >= TOO_LONG_S:
            return f"ok, but another process has blocked changes for {blocked_s:.0f} s"
        return "ok"

    def _describe_silence(self) -> str:
        what = "taken no writes" if self._is_read_only() else "not answered"
        return f"the database has {what} for {self._find_silence_s():.0f} s"

    def _lag_s(self) -> float:
        """How long, at least, there have been changes that are not visible here."""
        if self._find_delay() is None:
            self._behind_since = None
            return 0
        now_s = time.monotonic()
        if self._behind_since is None:
            self._behind_since = now_s
        return now_s - self._behind_since


def _line(status: int, text: str) -> Response:
    return Response(status, _HEADERS, f"{text}\n".encode())
