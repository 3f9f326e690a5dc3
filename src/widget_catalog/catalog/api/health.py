"""`/api/health`: the state of database, bundles, workers and replica, for monitoring."""

from collections.abc import Callable

import msgspec

from widget_contract.errors import CatalogError

from ...core.errors import DatabaseDown, DatabaseReadOnly, DataDamaged, StoreUnavailable
from ...core.http.conditional import content_response
from ...core.http.content import Content
from ...core.http.http import NOSNIFF, Headers, Request, Response, WorkerCounts
from ..catalog import Catalog

# A large import or doctor may write for some seconds; anything longer is unhealthy.
TOO_LONG_S = 10

_STATES: dict[type[StoreUnavailable], str] = {
    DataDamaged: "damaged",
    DatabaseDown: "down",
    DatabaseReadOnly: "down",
}
_HEADERS: Headers = [
    ("content-type", "application/json; charset=utf-8"),
    ("vary", "accept-encoding"),
    NOSNIFF,
]


class Health:
    """`blocked_s` returns how long another process has been writing; `find_damage`, what is
    damaged; `find_delay`, why not all changes are visible yet.
    """

    def __init__(
        self,
        catalog: Catalog,
        check_store: Callable[[], None],
        check_bundles: Callable[[], None],
        blocked_s: Callable[[], float],
        find_damage: Callable[[], str | None],
        find_delay: Callable[[], str | None],
        workers: WorkerCounts | None = None,
    ) -> None:
        self._catalog = catalog
        self._check_store = check_store
        self._check_bundles = check_bundles
        self._blocked_s = blocked_s
        self._find_damage = find_damage
        self._find_delay = find_delay
        self._workers = workers

    def answer(self, request: Request) -> Response:
        checks = {"database": "ok", "bundles": "ok"}
        faults = []
        try:
            self._catalog.check()
            self._check_store()
        except StoreUnavailable as fault:
            checks["database"] = _STATES.get(type(fault), "failing")
            faults.append(fault.message)
        damage = self._find_damage()
        if damage and damage not in faults:
            checks["database"] = "damaged"
            faults.append(f"The database is damaged, and doctor must be run: {damage}")
        try:
            self._check_bundles()
        except CatalogError as fault:
            checks["bundles"] = "failing"
            faults.append(fault.message)
        blocked_s = self.find_blocked_s()
        if blocked_s >= TOO_LONG_S:
            checks["writing"] = "failing"
            faults.append(
                f"Nothing can be changed: another process has been writing for {blocked_s:.0f} s; "
                "the log names it. Everything can be read."
            )
        if self._find_delay():
            checks["replica"] = "behind"
            faults.append("Not all that was changed can be shown yet; the log says why.")
        workers = self._workers
        if workers is not None and workers.missing:
            # This request works, and so do the other workers, but monitoring should know.
            running = workers.workers - workers.missing
            checks["workers"] = f"{running} of {workers.workers} running"
        body: dict[str, object] = {"status": "ok", "checks": checks}
        if faults:
            body = {"status": "unavailable", "checks": checks, "error": " ".join(faults)}
        content = Content(msgspec.json.encode(body))
        return content_response(request, content, _HEADERS, status=503 if faults else 200)

    def find_blocked_s(self) -> float:
        """How long another process has been writing, as far as known."""
        try:
            return self._blocked_s()
        except CatalogError:  # For example, a full disk: writers get that error.
            return 0
