"""`/api/health`: the state of database, bundles, workers and replica, for monitoring; and
`/healthz/live` and `/healthz/ready`: a line each, for load balancers.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import msgspec

from widget_contract.errors import CatalogError

from ...core.db.damage import DamageAlarm
from ...core.db.engine import Store
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
from ..replica.replica import Replica

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


class NodeHealth(Protocol):
    """What a node knows of its database, and of changes that it does not show yet."""

    @property
    def has_others(self) -> bool:
        """Whether other nodes share the database, and can take over."""

    @property
    def silent_s(self) -> float:
        """How long the database has not responded; 0 in normal operation."""

    @property
    def is_read_only(self) -> bool:
        """Whether it responds but accepts no writes."""

    @property
    def is_newer(self) -> bool:
        """Whether a newer release has migrated it."""

    def check_database(self) -> None:
        """Raises StoreUnavailable if it cannot be read."""

    def find_delay(self) -> str | None:
        """Why not all changes are visible yet, if so."""

    def is_catching_up(self) -> bool:
        """Whether changes are being applied, and no other node has more of them."""


class LoneNode:
    """The health of a node that shares its database with no other. `NodeStatus` is that of one
    that does.
    """

    has_others = False
    silent_s = 0.0
    is_read_only = False
    is_newer = False

    def __init__(self, store: Store, replica: Replica) -> None:
        self._store = store
        self._replica = replica

    def check_database(self) -> None:
        self._store.check()

    def find_delay(self) -> str | None:
        return self._replica.error

    def is_catching_up(self) -> bool:
        return False


@dataclass
class Health:
    """`check_bundles` raises an error if bundles cannot be read."""

    catalog: CatalogReader
    node: NodeHealth
    store: Store
    replica: Replica
    alarm: DamageAlarm
    check_bundles: Callable[[], None]
    workers: WorkerStatus | None

    def handle(self, request: Request) -> Response:
        checks = {"database": "ok", "bundles": "ok"}
        errors = []
        try:
            self.catalog.check()
            self.node.check_database()
        except StoreUnavailable as error:
            checks["database"] = _STATES.get(type(error), "failing")
            errors.append(error.message)
        damage = self.alarm.current()
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
        if self.is_rebuilding:
            checks["replica"] = "damaged"
            errors.append(f"{_REBUILDING.capitalize()}.")
        elif self.replica.error:
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

    @property
    def is_rebuilding(self) -> bool:
        """Whether the read model is damaged, and is rebuilt."""
        return self.replica.healing.is_condemned

    @property
    def is_stopping(self) -> bool:
        """Whether the service is about to stop."""
        return self.workers is not None and self.workers.is_stopping

    def find_blocked_s(self) -> float:
        """How long another process has been writing, as far as known."""
        try:
            return self.store.blocked_s()
        except CatalogError:  # For example, a full disk: writers get that error.
            return 0


@dataclass
class Healthz:
    """A node that has lagged behind for longer than this is not ready."""

    health: Health
    max_lag_s: int
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
        if self.health.is_stopping:
            return "draining: this node is about to stop"
        if self.is_draining:
            return "draining: this worker is about to end"
        try:
            self.health.catalog.check()
        except StoreUnavailable:
            return "the read model cannot be read"
        if self.health.node.has_others and self.health.is_rebuilding:
            return _REBUILDING
        if self._lag_s() > self.max_lag_s and not self.health.node.is_catching_up():
            return "behind: not all changes can be shown"
        return None

    def _describe(self) -> str:
        if self.health.is_rebuilding:
            return f"ok, but {_REBUILDING}"
        if self.health.node.silent_s:
            return f"ok, but {self._describe_silence()}"
        if self._lag_s() > self.max_lag_s:
            return "ok, but behind, and so are the other nodes"
        if self.health.node.is_newer:
            return "ok, but nothing can be changed here: the database is of a newer release"
        if (blocked_s := self.health.find_blocked_s()) >= TOO_LONG_S:
            return f"ok, but another process has blocked changes for {blocked_s:.0f} s"
        return "ok"

    def _describe_silence(self) -> str:
        what = "taken no writes" if self.health.node.is_read_only else "not answered"
        return f"the database has {what} for {self.health.node.silent_s:.0f} s"

    def _lag_s(self) -> float:
        """How long, at least, there have been changes that are not visible here."""
        if self.health.node.find_delay() is None:
            self._behind_since = None
            return 0
        self._behind_since = self._behind_since or time.monotonic()
        return time.monotonic() - self._behind_since


def _line(status: int, text: str) -> Response:
    return Response(status, _LINE, f"{text}\n".encode())
