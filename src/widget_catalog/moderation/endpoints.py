"""Handlers of moderation: revoking versions, over the API and with forms; for operators, reports
and names of scopes; for everybody, the page to report a widget.
"""

from collections.abc import Mapping, Sequence
from functools import partial

import msgspec

from ..accounts.permissions import read_as_operator
from ..accounts.store import TakenScope, list_scopes
from ..catalog.store.scopes import OwnerlessScope, list_ownerless_scopes
from ..core.actors import Actor, Right
from ..core.db.engine import Store
from ..core.errors import Conflict, InvalidRequest, NotFound, TooOften
from ..core.files.contract import Bundles
from ..core.http.call import Call, Paging
from ..core.http.csrf import refuse_other_sites
from ..core.http.http import Response
from ..core.http.replies import reply
from ..core.http.routing import AuthMode, Route, StepUp, Who, page
from ..core.http.sent_form import (
    CORRECTABLE,
    NOT_SENT,
    SentForm,
    by_api,
    form_page,
    forms_of,
    own_form_page,
)
from ..core.http.services import Services
from ..publishing.widget_pages import WIDGETS, version_form
from . import manage_scopes as scopes
from . import report_widget as reports
from .feature import ModerationSettings
from .report_widget import ReportForm
from .revoke_version import revoke_everywhere, revoke_version, unrevoke_version
from .store import list_reports

REPORTS = "/operate/reports"
SCOPES = "/operate/scopes"
_REPORTS_PER_PAGE = 20
_SCOPES_PER_PAGE = 50
_OWNERLESS = "ownerless"
_CORRECTABLE = (InvalidRequest, Conflict, TooOften)
_KINDS = ("reserved", "organization", "personal", _OWNERLESS)
_DONE = {
    "resolve": "The report was resolved.",
    "dismiss": "The report was dismissed.",
    "reserve": "The name was reserved.",
    "release": "The name was released.",
    "assign": "The scope was assigned. It is now an organization.",
}

REPORT = "/report/{scope}/{name}"
# 4,000 characters of text, each of which may take 12 bytes in a form.
MAX_BODY = 65_536
_VERSIONS = 50
_WORDS = {
    "harmful": "It does something harmful",
    "impersonation": "It impersonates somebody else",
    "rights": "It infringes copyright or other rights",
    "offensive": "It is offensive",
    "other": "Something else",
}


class RevokeBody(msgspec.Struct, rename="camel"):
    reason: str
    everywhere: bool = False
    same_bundle: list[str] = []


def _version(services: Services, call: Call) -> tuple[Store, Bundles, Actor, str, str]:
    return services.store, services.bundles, call.actor, call.key, call.params["version"]


def post_revoke(services: Services, call: Call) -> Response:
    body = call.json(RevokeBody)
    if body.everywhere:
        revoke_everywhere(*_version(services, call), body.reason, body.same_bundle)
        return reply({"success": True, "sameBundle": []})
    shared = revoke_version(*_version(services, call), body.reason)
    return reply({"success": True, "sameBundle": shared})


def unrevoke(services: Services, call: Call, _fields: Mapping[str, str]) -> None:
    unrevoke_version(*_version(services, call))


@version_form("revoke", {"": "reason"})
def post_revoke_form(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    revoke_version(*_version(services, call), fields.get("reason", ""))


@version_form("revoke-everywhere", {"": "reason"})
def post_everywhere_form(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    agreed = [other for other in fields.get("sameBundle", "").split(",") if other]
    revoke_everywhere(*_version(services, call), fields.get("reason", ""), agreed)


def get_reports(services: Services, call: Call, sent: SentForm = NOT_SENT) -> Response:
    state, page = call.query().get("state", "open"), call.page()[0]
    which = (state if state in reports.STATES else None, page, _REPORTS_PER_PAGE)
    found, total = read_as_operator(services.store, call.actor, list_reports, *which)
    shown = {
        "reports": found,
        "sent_id": call.params.get("id"),
        "state": which[0],
        "states": reports.STATES,
        "total": total,
        "paging": Paging.of(call, page, _REPORTS_PER_PAGE, total),
    }
    return own_form_page(services, call, "moderation/reports.html", sent, _DONE, **shown)


_report_form = forms_of(get_reports, lambda _call: REPORTS)


def _decide(state: str, services: Services, call: Call, fields: Mapping[str, str]) -> None:
    note = fields.get("note", "").strip()
    reports.decide_about(services.store, call.actor, call.params["id"], state, note)


post_resolve = _report_form("resolve")(partial(_decide, "resolved"))
post_dismiss = _report_form("dismiss")(partial(_decide, "dismissed"))


def get_scopes(services: Services, call: Call, sent: SentForm = NOT_SENT) -> Response:
    kind = _OWNERLESS if sent.name == "assign" else call.query().get("kind")
    kind, page = kind if kind in _KINDS else None, call.page()[0]
    store, actor, place = services.store, call.actor, (page, _SCOPES_PER_PAGE)
    found: Sequence[TakenScope | OwnerlessScope]
    if kind == _OWNERLESS:
        found, total = read_as_operator(store, actor, list_ownerless_scopes, *place)
    else:
        found, total = read_as_operator(store, actor, list_scopes, kind, *place)
    shown = {
        "scopes": found,
        "kind": kind,
        "kinds": _KINDS,
        "total": total,
        "paging": Paging.of(call, page, _SCOPES_PER_PAGE, total),
    }
    return own_form_page(services, call, "moderation/scopes.html", sent, _DONE, **shown)


_NAME = {"": "name", "username": "name"}
_scope_form = forms_of(get_scopes, lambda _call: SCOPES)
_existing_scope_form = forms_of(get_scopes, lambda _call: SCOPES, (*CORRECTABLE, NotFound))


@_scope_form("reserve", _NAME)
def post_reserve(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    scopes.reserve_scope(services.store, _name_in(fields, "name"), call.actor)


@_existing_scope_form("release", _NAME)
def post_release(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    scopes.release_scope(services.store, _name_in(fields, "name"), call.actor)


@_existing_scope_form("assign", {"": "username"})
def post_assign(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    name, username = _name_in(fields, "name"), _name_in(fields, "username")
    scopes.assign_scope(services.store, name, username, actor=call.actor)


def _name_in(fields: Mapping[str, str], key: str) -> str:
    return fields.get(key, "").strip().removeprefix("@")


def get_report(services: Services, call: Call, sent: SentForm = NOT_SENT) -> Response:
    """It has a form, so it is separate from the widget's page, which may be cached. No account is
    needed.
    """
    most = services.settings.of(ModerationSettings).max_reports
    widget = reports.find_reportable(services.store, *_place(call), most)
    shown = {
        "script_rules": "connect-src 'self'",  # The account corner requests the session.
        "widget": widget,
        "versions": [version.number for version in widget.versions[:_VERSIONS]],
        "categories": [(category, _WORDS[category]) for category in reports.CATEGORIES],
        "max_text": reports.MAX_TEXT,
        "is_done": call.request.method != "POST" and call.query().get("done") == "yes",
    }
    return form_page(services, "moderation/report.html", sent=sent, **shown)


@forms_of(get_report, lambda call: f"{call.request.path}?done=yes", _CORRECTABLE)("")
def post_report(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    refuse_other_sites(services.settings, call.request)
    form = {key: value.strip() for key, value in fields.items()}
    # Forms send CRLF line breaks.
    form["text"] = form.get("text", "").replace("\r\n", "\n")
    said = ReportForm(*(form.get(field, "") for field in ReportForm._fields))
    most = services.settings.of(ModerationSettings).max_reports
    reports.report_widget(services.store, call.address, *_place(call), said, most)


def _place(call: Call) -> tuple[str, str]:
    return call.params["scope"], call.params["name"]


_VERSION = "/api/widgets/{scope}/{name}/versions/{version}"
_VERSION_PAGE = WIDGETS + "/{scope}/{name}/versions/{version}"

_revoking = partial(page, needs=Right.REVOKE)
_operator = partial(page, needs=Who.OPERATOR)
_visitor = partial(Route, needs=Who.ANYONE, auth=AuthMode.ANONYMOUS_PAGE)

ROUTES = (
    Route("POST", _VERSION + "/revoke", post_revoke, Right.REVOKE),
    Route("POST", _VERSION + "/unrevoke", by_api(unrevoke), Right.REVOKE),
    _revoking("POST", _VERSION_PAGE + "/revoke", post_revoke_form),
    _revoking("POST", _VERSION_PAGE + "/revoke-everywhere", post_everywhere_form),
    _revoking("POST", _VERSION_PAGE + "/unrevoke", version_form("unrevoke")(unrevoke)),
    _operator("GET", SCOPES, get_scopes),
    _operator("POST", SCOPES + "/reserve", post_reserve),
    _operator("POST", SCOPES + "/release", post_release),
    _operator("POST", SCOPES + "/assign", post_assign, step_up=StepUp.FRESH),
    _operator("GET", REPORTS, get_reports),
    _operator("POST", REPORTS + "/{id}/resolve", post_resolve),
    _operator("POST", REPORTS + "/{id}/dismiss", post_dismiss),
    _visitor("GET", REPORT, get_report),
    _visitor("POST", REPORT, post_report, max_body=MAX_BODY),
)
