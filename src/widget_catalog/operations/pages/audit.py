"""The audit log of the whole catalog: filtered, paged, and as a download."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import UTC, date, datetime, timedelta
from functools import partial

import msgspec

from ...accounts.pages.own_page import own_page
from ...catalog.events import list_actions
from ...catalog.store.audit import AuditFilter, Entry, shown_entry
from ...core.clock import to_ms
from ...core.errors import InvalidRequest
from ...core.http.call import Call
from ...core.http.http import NOSNIFF, Response, StreamBody
from ...core.http.paging import Paging
from ...core.http.services import Services
from ..read_audit import read_audit_part, search_audit

_PER_PAGE = 50
_PER_PART = 1_000


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
        "operations/audit.html",
        status=400 if faults else 200,
        typed=typed,
        faults=faults,
        actions=sorted(set(list_actions().values())),
        entries=entries,
        total=total,
        query=call.request.query_string,
        paging=Paging.of(call, page, _PER_PAGE, total),
    )


def get_download(services: Services, call: Call) -> Response:
    """One JSON object per line, newest first, in the API's format; read while it is sent."""
    which = _filter({key: value.strip() for key, value in call.query().items()})
    read = partial(read_audit_part, services.store, call.actor, which)
    # Before the response starts: the visitor may not be allowed to read it.
    first = read(None, _PER_PART)
    headers = [
        ("content-type", "application/x-ndjson; charset=utf-8"),
        ("content-disposition", 'attachment; filename="audit.ndjson"'),
        ("cache-control", "no-store"),
        NOSNIFF,
    ]
    return Response(200, headers, StreamBody(_lines(first, read)))


Part = tuple[list[Entry], int | None]


async def _lines(part: Part, read: Callable[[int | None, int], Part]) -> AsyncIterator[bytes]:
    encode = msgspec.json.Encoder().encode_lines
    entries, before = part
    while entries:
        yield encode([shown_entry(it) for it in entries])
        if before is None:
            return
        entries, before = await asyncio.to_thread(read, before, _PER_PART)


def _filter(typed: dict[str, str]) -> AuditFilter:
    for value in typed.values():
        if not value.isprintable():
            raise InvalidRequest("The filter contains characters that cannot be searched for.")
    scope, _, name = typed.get("scope", "").removeprefix("@").partition("/")
    action = typed.get("action") or None
    if action is not None and action not in list_actions().values():
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
