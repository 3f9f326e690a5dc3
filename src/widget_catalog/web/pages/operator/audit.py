"""The audit log of the whole catalog: filtered, page by page, and to download."""

from datetime import UTC, date, datetime, timedelta

import msgspec

from ....actions.read_audit import search_audit, shown_entry
from ....domain.clock import to_ms
from ....domain.errors import InvalidRequest
from ....store.audit import ACTIONS, AuditFilter
from ...kit.call import Call, Services
from ...kit.http import NOSNIFF, Response
from ..account.own_page import own_page
from ..author.paging import Paging

_PER_PAGE = 50
MOST_DOWNLOADED = 50_000


def get_audit(services: Services, call: Call) -> Response:
    typed = {key: value.strip() for key, value in call.query().items()}
    page, _ = call.page()
    faults = []
    try:
        which = _filter(typed)
    except InvalidRequest as fault:
        which, faults = AuditFilter(), [fault.message]
    entries, total = search_audit(services.store, call.actor, which, page, _PER_PAGE)
    return own_page(
        services,
        call,
        "operator/audit.html",
        status=400 if faults else 200,
        typed=typed,
        faults=faults,
        actions=ACTIONS,
        entries=entries,
        total=total,
        query=call.request.query_string,
        most=MOST_DOWNLOADED,
        paging=Paging.of(call, page, _PER_PAGE, total),
    )


def get_download(services: Services, call: Call) -> Response:
    """One JSON object a line, newest first, as the API shows entries."""
    which = _filter({key: value.strip() for key, value in call.query().items()})
    entries, _ = search_audit(services.store, call.actor, which, 1, MOST_DOWNLOADED)
    headers = [
        ("content-type", "application/x-ndjson; charset=utf-8"),
        ("content-disposition", 'attachment; filename="audit.ndjson"'),
        ("cache-control", "no-store"),
        NOSNIFF,
    ]
    body = msgspec.json.Encoder().encode_lines([shown_entry(it) for it in entries])
    return Response(200, headers, body)


def _filter(typed: dict[str, str]) -> AuditFilter:
    for value in typed.values():
        if not value.isprintable():
            raise InvalidRequest("The filter has characters that cannot be looked for.")
    scope, _, name = typed.get("scope", "").removeprefix("@").partition("/")
    action = typed.get("action") or None
    if action is not None and action not in ACTIONS:
        raise InvalidRequest(f"There is no action {action[:80]!r}.")
    return AuditFilter(
        actor=typed.get("actor", "").removeprefix("@") or None,
        action=action,
        scope=scope or None,
        name=name or None,
        since=_day("since", typed),
        until=_day("until", typed, timedelta(days=1)),
    )


def _day(field: str, typed: dict[str, str], later: timedelta = timedelta()) -> int | None:
    text = typed.get(field)
    if not text:
        return None
    try:
        day = date.fromisoformat(text) + later
    except (ValueError, OverflowError):
        raise InvalidRequest(f"{field}: must be a day such as 2026-01-31.") from None
    return to_ms(datetime(day.year, day.month, day.day, tzinfo=UTC))
