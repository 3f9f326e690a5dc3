"""For operators: size and health of the catalog, and its widgets."""

from typing import NamedTuple

from widget_contract.errors import CatalogError

from ..accounts.permissions import require_operator_now
from ..accounts.store import count_accounts
from ..catalog.store.events import count_open_reports
from ..catalog.store.feed import latest_seq
from ..catalog.store.rows import StoredWidget
from ..catalog.store.widgets import (
    count_listed,
    count_stored_bytes,
    count_widgets,
    list_widgets_page,
)
from ..catalog.widgets import Totals
from ..core.actors import Actor
from ..core.db.engine import Store
from ..core.files.contract import Bundles

_TOO_LONG_S = 10


class Overview(NamedTuple):
    listed: Totals
    widgets: int
    """Unlisted ones included."""
    accounts: int
    stored_bytes: int
    changes: int
    """The number of the newest change; what readers have applied is held against it."""
    open_reports: int | None
    """None if there are no reports in this catalog."""
    checks: dict[str, str]
    """What is well is `ok`."""


def view_overview(store: Store, bundles: Bundles, actor: Actor) -> Overview:
    with store.reading() as connection:
        require_operator_now(connection, actor)
        return Overview(
            count_listed(connection),
            count_widgets(connection),
            count_accounts(connection),
            count_stored_bytes(connection),
            latest_seq(connection),
            count_open_reports(connection),
            _checks(store, bundles),
        )


def search_widgets(
    store: Store, actor: Actor, scope: str | None, state: str | None, page: int, limit: int
) -> tuple[list[StoredWidget], int]:
    """Of one scope by name, or of all, newest first; listed or not."""
    scopes = [scope] if scope is not None else None
    with store.reading() as connection:
        require_operator_now(connection, actor)
        return list_widgets_page(connection, page, limit, scopes=scopes, state=state)


def _checks(store: Store, bundles: Bundles) -> dict[str, str]:
    checks = {}
    for name, check in (("database", store.check), ("bundles", bundles.check)):
        try:
            check()
            checks[name] = "ok"
        except CatalogError as fault:
            checks[name] = fault.message
    try:
        blocked_s = store.blocked_s()
    except CatalogError:  # The next writer gets the same error.
        blocked_s = 0
    is_blocked = blocked_s >= _TOO_LONG_S
    checks["writing"] = f"Blocked for {blocked_s:.0f} s by another process." if is_blocked else "ok"
    return checks
