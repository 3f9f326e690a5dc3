"""`/api/health`: the state of database, bundles, workers and replica, for monitoring; and
`/healthz/live` and `/healthz/ready`: a line each, for load balancers.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from widget_contract.errors import CatalogError

from ...core.errors import DatabaseDown, DatabaseReadOnly, DataDamaged, StoreUnavailable
from ...core.http.conditional import content_response
from ...core.http.content import Content
from ...core.http.http import (
    NOSNIFF,
    Headers,
    Request,
    Response,
)
from ...core.http.worker_status import WorkerStatus
from ..reading.catalog import CatalogReader

# A large import or doctor may write for some seconds; anything longer is unhealthy.
TOO_LONG_S = 10

_STATES: dict[type[StoreUnavailable], str] = {
    DataDamaged: "damaged",
    DatabaseDown: "down",
    DatabaseReadOnly: "down",
}
_JSON_TYPE = ("content-type", "application/json; charset=utf-8")
_JSON: Headers = [_JSON_TYPE, ("vary", "accept-encoding"), NOSNIFF]

_REBUILDING = "the read model is damaged, and is rebuilt"

PREFIX = "/healthz/"
LIVE, READY = "/healthz/live", "/healthz/ready"
# HAProxy takes 404 for a node that finishes its requests and gets no new ones, 503 for a dead one.
_UNREADY_IS_404 = "unready=404"
_LINE_TYPE = ("content-type", "text/plain; charset=utf-8")
_LINE: Headers = [_LINE_TYPE, ("cache-control", "no-store"), NOSNIFF]


@dataclass
class Health:
    """`blocked_s` returns how long another process has been writing; `find_damage`, what is
    damaged in the database; `find_delay`, why not all changes are visible yet; `is_rebuilding`,
    whether the read model is damaged, and is rebuilt.
    """

    catalog: CatalogReader
    check_store: Callable[[], None]
    check_bundles: Callable[[], None]
    blocked_s: Callable[[], float]
    find_damage: Callable[[], str | None]
    find_delay: Callable[[], str | None]
    is_rebuilding: Callable[[], bool]
    workers: WorkerStatus | None

    def handle(self, request: Request) -> Response:
        checks = {"database": "ok", "bundles": "ok"}
        errors = []
        try:
            self.catalog.check()
            self.check_store()
        except StoreUnavailable as error:
            checks["database"] = _STATES.get(type(error), "failing")
            errors.append(error.message)
        damage = self.find_damage()
        if damage and damage not in errors:
            checks["database"] = "damaged"
            errors.append(f"The database is damaged, and doctor must be run: {damage}")
        try:
            self.check_bundles()
        except CatalogError as error:
            checks["bundles"] = "failing"
            errors.append(error.message)
        blocked_s = self.find_blocked_s()
        if blocked_s >= TOO_LONG_S:
            checks["writing"] = "failing"
            errors.append(
                f"Nothing can be changed: another process has been writing for {blocked_s:.0f} s; "
                "the log names it. Everything can be read."
            )
        if self.is_rebuilding():
            checks["replica"] = "damaged"
            errors.append(f"{_REBUILDING.capitalize()}.")
        elif self.find_delay():
            checks["replica"] = "behind"
            errors.append("Not all that was changed can be shown yet; the log says why.")
        if (workers := self.workers) is not None and workers.missing:
            # This request works, and so do the other workers, but monitoring should know.
            running = workers.workers - workers.missing
            checks["workers"] = f"{running} of {workers.workers} running"
        body: dict[str, object] = {"status": "ok", "checks": checks}
        if errors:
            body = {"status": "unavailable", "checks": checks, "error": " ".join(errors)}
        content = Content(msgspec.json.encode(body))
        return content_response(request.headers, content, _JSON, status=503 if errors else 200)

    def find_blocked_s(self) -> float:
        """How long another process has been writing, as far as known."""
        try:
            return self.blocked_s()
        except CatalogError:  # For example, a full disk: writers get that error.
            return 0


@dataclass
class Healthz:
    """`find_delay` returns why not all changes are visible yet, if so; `find_silence_s`, how long
    the shared database has not responded; `is_read_only`, whether it responds but accepts no
    writes; `is_outdated`, whether a newer release has migrated it; `blocked_s`, how long another
    process has been writing; `is_stopping`, whether the service is about to stop; `is_rebuilding`,
    whether the read model is damaged, and is rebuilt; `is_catching_up`, whether changes are being
    applied, and no other node has more of them. `has_others`: other nodes can take over.
    """

    catalog: CatalogReader
    find_delay: Callable[[], str | None]
    max_lag_s: int
    find_silence_s: Callable[[], float]
    is_read_only: Callable[[], bool]
    is_outdated: Callable[[], bool]
    blocked_s: Callable[[], float]
    is_stopping: Callable[[], bool]
    is_rebuilding: Callable[[], bool]
    is_catching_up: Callable[[], bool]
    has_others: bool
    is_draining: bool = False
    _behind_since: float | None = None

    def handle(self, request: Request) -> Response:
        if request.path not in (LIVE, READY):
            return _line(404, "Not found.")
        if request.method not in ("GET", "HEAD"):
            response = _line(405, "Use GET or HEAD.")
            return response._replace(headers=[*response.headers, ("allow", "GET, HEAD")])
        if request.path == LIVE:
            response = _line(200, "ok")
        else:
            error = self._find_error()
            unready = 404 if request.query_string == _UNREADY_IS_404 else 503
            response = _line(200, self._describe()) if error is None else _line(unready, error)
        return response._replace(body=None) if request.method == "HEAD" else response

    def _find_error(self) -> str | None:
        """Why this node should not receive reads."""
        if self.is_stopping():
            return "draining: this node is about to stop"
        if self.is_draining:
            return "draining: this worker is about to end"
        try:
            self.catalog.check()
        except StoreUnavailable:
            return "the read model cannot be read"
        if self.has_others and self.is_rebuilding():
            return _REBUILDING
        if self._lag_s() > self.max_lag_s and not self.is_catching_up():
            return "behind: not all changes can be shown"
        return None

    def _describe(self) -> str:
        if self.is_rebuilding():
            return f"ok, but {_REBUILDING}"
        if self.find_silence_s():
            return f"ok, but {self._describe_silence()}"
        if self._lag_s() > self.max_lag_s:
            return "ok, but behind, and so are the other nodes"
        if self.is_outdated():
            return "ok, but nothing can be changed here: the database is of a newer release"
        if (blocked_s := self.blocked_s()) >= TOO_LONG_S:
            return f"ok, but another process has blocked changes for {blocked_s:.0f} s"
        return "ok"

    def _describe_silence(self) -> str:
        what = "taken no writes" if self.is_read_only() else "not answered"
        return f"the database has {what} for {self.find_silence_s():.0f} s"

    def _lag_s(self) -> float:
        """How long, at least, there have been changes that are not visible here."""
        if self.find_delay() is None:
            self._behind_since = None
            return 0
        self._behind_since = self._behind_since or time.monotonic()
        return time.monotonic() - self._behind_since


def _line(status: int, text: str) -> Response:
    return Response(status, _LINE, f"{text}\n".encode())
