"""Pages of moderation: for operators, reports from visitors, and names of scopes, to reserve,
release or assign; for everybody, the page to report a widget.
"""

from collections.abc import Mapping, Sequence

from ..accounts.pages.own_page import form_page, own_page
from ..accounts.store import TakenScope
from ..catalog.store.scopes import OwnerlessScope
from ..core.errors import Conflict, InvalidRequest, NotFound, TooOften
from ..core.http.call import Call, Paging
from ..core.http.dispatcher import refuse_other_sites
from ..core.http.http import Response
from ..core.http.sent_form import CORRECTABLE, NOT_SENT, SentForm, forms_of
from ..core.http.services import Services
from . import manage_scopes as scopes
from . import report_widget as reports
from .report_widget import ReportForm
from .settings import ModerationSettings

REPORTS = "/operate/reports"
SCOPES = "/operate/scopes"
_REPORTS_PER_PAGE = 20
_SCOPES_PER_PAGE = 50
_OWNERLESS = "ownerless"
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


def get_reports(services: Services, call: Call) -> Response:
    return _reports_page(services, call, NOT_SENT)


def _reports_page(services: Services, call: Call, sent: SentForm) -> Response:
    asked = call.query().get("state", "open")
    state = asked if asked in reports.STATES else None
    page, _ = call.page()
    found, total = reports.search_reports(
        services.store, call.actor, state, page, _REPORTS_PER_PAGE
    )
    return own_page(
        services,
        call,
        "moderation/reports.html",
        error=sent.fault,
        reports=found,
        state=state,
        states=reports.STATES,
        total=total,
        paging=Paging.of(call, page, _REPORTS_PER_PAGE, total),
        done=_DONE.get(call.query().get("done", "")),
    )


_report_form = forms_of(_reports_page, lambda _call: REPORTS)


@_report_form("resolve")
def post_resolve(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    note = fields.get("note", "").strip()
    reports.decide_about(services.store, call.actor, call.params["id"], "resolved", note)


@_report_form("dismiss")
def post_dismiss(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    note = fields.get("note", "").strip()
    reports.decide_about(services.store, call.actor, call.params["id"], "dismissed", note)


def get_scopes(services: Services, call: Call) -> Response:
    return _scopes_page(services, call, NOT_SENT)


def _scopes_page(services: Services, call: Call, sent: SentForm) -> Response:
    kind = _OWNERLESS if sent.name == "assign" else call.query().get("kind")
    kind = kind if kind in _KINDS else None
    page, _ = call.page()
    place = (page, _SCOPES_PER_PAGE)
    found: Sequence[TakenScope | OwnerlessScope]
    if kind == _OWNERLESS:
        found, total = scopes.search_ownerless(services.store, call.actor, *place)
    else:
        found, total = scopes.search_scopes(services.store, call.actor, kind, *place)
    return own_page(
        services,
        call,
        "moderation/scopes.html",
        error=sent.fault,
        scopes=found,
        kind=kind,
        kinds=_KINDS,
        total=total,
        paging=Paging.of(call, page, _SCOPES_PER_PAGE, total),
        sent=sent,
        done=_DONE.get(call.query().get("done", "")),
    )


_scope_form = forms_of(_scopes_page, lambda _call: SCOPES)
_existing_scope_form = forms_of(_scopes_page, lambda _call: SCOPES, (*CORRECTABLE, NotFound))


@_scope_form("reserve")
def post_reserve(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    scopes.reserve_scope(services.store, _name_in(fields, "name"), call.actor)


@_existing_scope_form("release")
def post_release(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    scopes.release_scope(services.store, _name_in(fields, "name"), call.actor)


@_existing_scope_form("assign")
def post_assign(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    name, username = _name_in(fields, "name"), _name_in(fields, "username")
    scopes.assign_scope(services.store, name, username, actor=call.actor)


def _name_in(fields: Mapping[str, str], key: str) -> str:
    return fields.get(key, "").strip().removeprefix("@")


# The page to report a widget has a form, so it is separate from the widget's page, which may be
# cached. No account is needed.


def get_report(services: Services, call: Call) -> Response:
    return _report_page(services, call, ReportForm("", ""))


def post_report(services: Services, call: Call) -> Response:
    refuse_other_sites(services, call)
    form = {key: value.strip() for key, value in call.form().items()}
    # Forms send CRLF line breaks.
    text = form.get("text", "").replace("\r\n", "\n")
    said = ReportForm(
        form.get("category", ""), text, form.get("version", ""), form.get("contact", "")
    )
    most = services.settings.of(ModerationSettings).max_reports
    try:
        reports.report_widget(services.store, call.address, *_place(call), said, most)
    except (InvalidRequest, Conflict, TooOften) as error:
        return _report_page(services, call, said, error)
    return services.renderer.redirect(f"{call.request.path}?done=yes")


def _place(call: Call) -> tuple[str, str]:
    return call.params["scope"], call.params["name"]


def _report_page(
    services: Services,
    call: Call,
    said: ReportForm,
    error: InvalidRequest | Conflict | TooOften | None = None,
) -> Response:
    most = services.settings.of(ModerationSettings).max_reports
    widget = reports.find_reportable(services.store, *_place(call), most)
    return form_page(
        services,
        "moderation/report.html",
        error=error,
        script_rules="connect-src 'self'",  # The account corner requests the session.
        widget=widget,
        versions=[version.number for version in widget.versions[:_VERSIONS]],
        categories=[(category, _WORDS[category]) for category in reports.CATEGORIES],
        said=said,
        max_text=reports.MAX_TEXT,
        is_done=call.request.method != "POST" and call.query().get("done") == "yes",
    )
