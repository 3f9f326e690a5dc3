"""The operator's pages about the catalog: its size, health and settings, and all its widgets."""

import re
import shutil
from pathlib import Path
from typing import NamedTuple

from widget_contract.errors import CatalogError
from widget_contract.names import is_name

from ..accounts.permissions import require_operator_now
from ..accounts.store import count_accounts
from ..catalog.store.events import count_open_reports
from ..catalog.store.feed import latest_seq
from ..catalog.store.widgets import (
    count_listed,
    count_stored_bytes,
    count_widgets,
    list_widgets_page,
)
from ..core.errors import InvalidRequest
from ..core.features import installed
from ..core.http.call import Call, Paging
from ..core.http.http import Response
from ..core.http.sent_form import SentForm, own_page
from ..core.http.services import Services
from ..core.settings import Settings, list_settings
from ..publishing.widget_pages import WIDGETS

STATES = ("official", "unlisted", "revoked")
_PER_PAGE = 50
_RULE = "Enter a scope, or a scope and a name such as ann/clock."
_TOO_LONG_S = 10
# Links of the documentation lead nowhere here: sentences that are nothing else are left out.
_SEE_ALSO = re.compile(r" ?\bSee \[[^\]]+\]\([^)]+\)\.")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")


class ShownSetting(NamedTuple):
    name: str
    value: str
    about: str


def get_overview(services: Services, call: Call) -> Response:
    with services.store.reading() as connection:
        require_operator_now(connection, call.actor)
        overview = {
            "listed": count_listed(connection),
            "widgets": count_widgets(connection),
            "accounts": count_accounts(connection),
            "stored_bytes": count_stored_bytes(connection),
            "changes": (changes := latest_seq(connection)),
            "open_reports": count_open_reports(connection),
            "checks": _check_health(services),
        }
    return own_page(
        services,
        call,
        "operations/overview.html",
        overview=overview,
        shares_database=bool(services.settings.database),
        lag=max(0, changes - services.applied_seq()),
        disk=shutil.disk_usage(services.settings.data),
        files=_files_in(services.settings.data),
        settings=_shown(services.settings),
        facts=[fact for it in installed() for fact in it.facts(services.settings)],
    )


def _check_health(services: Services) -> dict[str, str]:
    """What is well is `ok`."""
    store, checks = services.store, {}
    for name, check in (("database", store.check), ("bundles", services.bundles.check)):
        try:
            check()
            checks[name] = "ok"
        except CatalogError as error:
            checks[name] = error.message
    try:
        blocked_s = store.blocked_s()
    except CatalogError:  # The next writer gets the same error.
        blocked_s = 0
    is_blocked = blocked_s >= _TOO_LONG_S
    checks["writing"] = f"Blocked for {blocked_s:.0f} s by another process." if is_blocked else "ok"
    return checks


def _files_in(folder: Path) -> list[tuple[str, int]]:
    """The files in the data folder itself, such as databases, largest first."""
    sizes = [(it.name, it.stat().st_blocks * 512) for it in folder.iterdir() if it.is_file()]
    return sorted(sizes, key=lambda it: -it[1])[:10]


def _shown(settings: Settings) -> list[ShownSetting]:
    """The settings that differ from their defaults; of a secret only whether it is set."""
    shown = []
    declared = [(group, it) for group, members in list_settings().items() for it in members]
    for group, field in declared:
        value = getattr(settings if group is Settings else settings.of(group), field.name)
        if value == field.default:
            continue
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if not field.repr:
            text = "set (hidden)"
        about = without_links(field.metadata["about"])
        shown.append(ShownSetting(field.name, text, about))
    return shown


def without_links(text: str) -> str:
    """The documentation of a setting, for a page outside of it."""
    return _LINK.sub(r"\1", _SEE_ALSO.sub("", text))


def get_widgets(services: Services, call: Call) -> Response:
    """All widgets, listed or not: of one scope by name, or of all, newest first."""
    query = call.query()
    text = query.get("q", "").strip().removeprefix("@")
    state = query.get("state")
    state = state if state in STATES else None
    scope, slash, name = text.partition("/")
    page, _ = call.page()
    is_readable = not text or (is_name(scope) and (not slash or is_name(name)))
    scopes = [scope] if text and is_readable else None
    with services.store.reading() as connection:
        require_operator_now(connection, call.actor)
        found, total = list_widgets_page(connection, page, _PER_PAGE, scopes=scopes, state=state)
    if slash and is_readable:
        return services.renderer.redirect(f"{WIDGETS}/{text}")
    return own_page(
        services,
        call,
        "operations/widgets.html",
        sent=SentForm("", {"q": text}, None if is_readable else InvalidRequest(_RULE), {"": "q"}),
        state=state,
        states=STATES,
        widgets=[it.widget for it in found] if is_readable else [],
        total=total if is_readable else 0,
        paging=Paging.of(call, page, _PER_PAGE, total),
    )
