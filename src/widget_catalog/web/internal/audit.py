"""Handlers: the audit log, page by page."""

from ...actions.read_audit import read_organization_audit, read_whole_audit, read_widget_audit
from ...domain.clock import from_ms, iso
from ...store.audit import Entry
from ..http import Response
from .call import Call, Services, reply


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
    found = read_whole_audit(services.store, call.actor, page, limit)
    return _shown(*found, page, limit)


def _shown(entries: list[Entry], total: int, page: int, limit: int) -> Response:
    shown = [{**entry._asdict(), "at": iso(from_ms(entry.at))} for entry in entries]
    return reply({"entries": shown, "total": total, "page": page, "limit": limit})
