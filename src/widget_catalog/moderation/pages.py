"""Reports from visitors, to resolve or dismiss."""

from collections.abc import Mapping

from ..accounts.pages.own_page import own_page
from ..core.http.call import Call, Paging
from ..core.http.http import Response
from ..core.http.sent_form import NOT_SENT, SentForm, take_form
from ..core.http.services import Services
from .report_widget import STATES, decide_about, search_reports

REPORTS = "/operate/reports"
_PER_PAGE = 20
_DONE = {"resolve": "The report was resolved.", "dismiss": "The report was dismissed."}


def get_reports(services: Services, call: Call) -> Response:
    return _page(services, call, NOT_SENT)


def post_resolve(services: Services, call: Call) -> Response:
    return _decide(services, call, "resolve", "resolved")


def post_dismiss(services: Services, call: Call) -> Response:
    return _decide(services, call, "dismiss", "dismissed")


def _decide(services: Services, call: Call, form: str, state: str) -> Response:
    def change(fields: Mapping[str, str]) -> None:
        note = fields.get("note", "").strip()
        decide_about(services.store, call.actor, call.params["id"], state, note)

    return take_form(services, call, form, change, _page, REPORTS)


def _page(services: Services, call: Call, sent: SentForm) -> Response:
    asked = call.query().get("state", "open")
    state = asked if asked in STATES else None
    page, _ = call.page()
    reports, total = search_reports(services.store, call.actor, state, page, _PER_PAGE)
    return own_page(
        services,
        call,
        "moderation/reports.html",
        *sent.headers,
        status=sent.status,
        reports=reports,
        state=state,
        states=STATES,
        total=total,
        paging=Paging.of(call, page, _PER_PAGE, total),
        faults=[*sent.faults("resolve"), *sent.faults("dismiss")],
        done=_DONE.get(call.query().get("done", "")),
    )
