"""The audit log of a widget, an organization or the whole catalog: in the API, as a page, as a
download; and how long entries are kept.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import UTC, date, datetime, timedelta
from functools import partial

import msgspec

from ..accounts.permissions import require_operator, require_operator_now
from ..catalog.model.events import list_actions
from ..catalog.store.audit import (
    AuditEntry,
    AuditFilter,
    list_entries,
    list_filtered,
    list_oldest,
    read_filtered,
    remove_entries,
    shown_entry,
)
from ..core.actors import Actor
from ..core.clock import to_ms
from ..core.db.engine import Store
from ..core.errors import FieldMessage, InvalidRequest
from ..core.http.call import Call, Paging
from ..core.http.http import NOSNIFF, Response, StreamBody
from ..core.http.replies import reply
from ..core.http.sent_form import SentForm, own_page
from ..core.http.services import Services
from ..organizations.organize import read_organization_audit
from ..publishing.view_own import read_widget_audit

_PER_PAGE = 50
_PER_PART = 1_000
_DAY_MS = 86_400_000

Part = tuple[list[AuditEntry], int | None]


def get_widget_audit(services: Services, call: Call) -> Response:
    page, limit = call.page()
    found = read_widget_audit(services.store, call.actor, call.key, page, limit)
    return _shown(*found, page, limit)


def get_organization_audit(services: Services, call: Call) -> Response:
    page, limit = call.page()
    found = read_organization_audit(services.store, call.actor, call.params["slug"], page, limit)
    return _shown(*found, page, limit)


def get_audit(services: Services, call: Call) -> Response:
    page, limit = call.page()
    require_operator(call.actor)
    with services.store.reading() as connection:
        found = list_entries(connection, None, None, page, limit)
    return _shown(*found, page, limit)


def _shown(entries: list[AuditEntry], total: int, page: int, limit: int) -> Response:
    shown = [shown_entry(entry) for entry in entries]
    return reply({"entries": shown, "total": total, "page": page, "limit": limit})


def get_audit_page(services: Services, call: Call) -> Response:
    typed = {key: value.strip() for key, value in call.query().items()}
    page, _ = call.page()
    sent = SentForm("", typed)
    try:
        which = _filter(typed)
    except InvalidRequest as error:
        which, sent = AuditFilter(), SentForm("", typed, error)
    entries, total = search_audit(services.store, call.actor, which, page, _PER_PAGE)
    return own_page(
        services,
        call,
        "operations/audit.html",
        sent=sent,
        actions=sorted(set(list_actions().values())),
        entries=entries,
        total=total,
        query=call.request.query_string,
        paging=Paging.of(call, page, _PER_PAGE, total),
    )


def search_audit(
    store: Store, actor: Actor, which: AuditFilter, page: int, limit: int
) -> tuple[list[AuditEntry], int]:
    """A page of the entries that match the filter, and the total."""
    with store.reading() as connection:
        require_operator_now(connection, actor)
        return list_filtered(connection, which, page, limit)


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


def read_audit_part(
    store: Store, actor: Actor, which: AuditFilter, before: int | None, limit: int
) -> Part:
    """The entries that match the filter, one part at a time."""
    with store.reading() as connection:
        require_operator_now(connection, actor)
        return read_filtered(connection, which, before, limit)


async def _lines(part: Part, read: Callable[[int | None, int], Part]) -> AsyncIterator[bytes]:
    encode = msgspec.json.Encoder().encode_lines
    entries, before = part
    while entries:
        yield encode([shown_entry(it) for it in entries])
        if before is None:
            return
        entries, before = await asyncio.to_thread(read, before, _PER_PART)


def _filter(typed: dict[str, str]) -> AuditFilter:
    for field, value in typed.items():
        if not value.isprintable():
            error = "The filter contains characters that cannot be searched for."
            raise InvalidRequest(FieldMessage(field, error))
    scope, _, name = typed.get("scope", "").removeprefix("@").partition("/")
    action = typed.get("action") or None
    if action is not None and action not in list_actions().values():
        raise InvalidRequest(FieldMessage("action", f"There is no action {action[:80]!r}."))
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


def prune_audit(store: Store, keep_days: int) -> None:
    """In batches, to avoid long transactions; 0 days: entries are kept forever."""
    if not keep_days:
        return
    before_ms = store.now_ms() - keep_days * _DAY_MS
    while True:
        with store.reading() as connection:
            oldest = list_oldest(connection, before_ms)
        if not oldest:
            return
        with store.writing() as tx:
            remove_entries(tx, oldest[-1])
