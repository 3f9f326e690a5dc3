"""Health of this node for load balancers: `/healthz/live` and `/healthz/ready`, a line each."""

import time
from collections.abc import Callable

from ...catalog.catalog import Catalog
from ...domain.errors import StoreUnavailable
from ..kit.http import NOSNIFF, Request, Response

PREFIX = "/healthz/"
LIVE, READY = "/healthz/live", "/healthz/ready"
_HEADERS = [
    ("content-type", "text/plain; charset=utf-8"),
    ("cache-control", "no-store"),
    NOSNIFF,
]


class Healthz:
    """`find_delay` says why not all changes are shown yet, if so."""

    def __init__(
        self, catalog: Catalog, find_delay: Callable[[], str | None], max_lag_s: int
    ) -> None:
        self._catalog = catalog
        self._find_delay = find_delay
        self._max_lag_s = max_lag_s
        self._behind_since: float | None = None
        self.is_draining = False

    def answer(self, request: Request) -> Response:
        if request.path not in (LIVE, READY):
            return _line(404, "There is nothing here.")
        if request.method not in ("GET", "HEAD"):
            response = _line(405, "Use GET or HEAD.")
            return response._replace(headers=[*response.headers, ("allow", "GET, HEAD")])
        fault = None if request.path == LIVE else self._find_fault()
        response = _line(200, "ok") if fault is None else _line(503, fault)
        return response._replace(body=None) if request.method == "HEAD" else response

    def _find_fault(self) -> str | None:
        """Why no reads should be sent here."""
        if self.is_draining:
            return "draining: this worker is about to end"
        try:
            self._catalog.check()
        except StoreUnavailable:
            return "the read model cannot be read"
        if self._lag_s() > self._max_lag_s:
            return "behind: not all changes can be shown"
        return None

    def _lag_s(self) -> float:
        """For how long, at least, there have been changes that cannot be shown."""
        if self._find_delay() is None:
            self._behind_since = None
            return 0
        now_s = time.monotonic()
        if self._behind_since is None:
            self._behind_since = now_s
        return now_s - self._behind_since


def _line(status: int, text: str) -> Response:
    return Response(status, _HEADERS, f"{text}\n".encode())
