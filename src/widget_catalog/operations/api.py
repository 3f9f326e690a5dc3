"""Handlers: the audit log, page by page."""

from ..catalog.store.audit import Entry, shown_entry
from ..core.http.call import Call, reply
from ..core.http.http import Response
from ..core.http.services import Services
from ..organizations.organize import read_organization_audit
from ..publishing.view_own import read_widget_audit
from .read_audit import read_whole_audit


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
    shown = [shown_entry(entry) for entry in entries]
    return reply({"entries": shown, "total": total, "page": page, "limit": limit})
