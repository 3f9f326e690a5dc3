"""The page to report a widget. It has a form, so it is separate from the widget's page, which may
be cached; no account is needed.
"""

from ..core.errors import Conflict, InvalidRequest, TooOften
from ..core.http.call import Call
from ..core.http.dispatcher import refuse_other_sites
from ..core.http.errors import headers_of, status_of
from ..core.http.http import Response
from ..core.http.services import Services
from .report_widget import CATEGORIES, MAX_TEXT, ReportForm, find_reportable, report_widget
from .settings import ModerationSettings

REPORT = "/report/{scope}/{name}"
_VERSIONS = 50
# 4,000 characters of text, each of which may take 12 bytes in a form.
MAX_BODY = 65_536
_WORDS = {
    "harmful": "It does something harmful",
    "impersonation": "It impersonates somebody else",
    "rights": "It infringes copyright or other rights",
    "offensive": "It is offensive",
    "other": "Something else",
}
_NOTHING = ReportForm("", "")


def get_report(services: Services, call: Call) -> Response:
    return _form(services, call, _NOTHING)


def post_report(services: Services, call: Call) -> Response:
    refuse_other_sites(services, call)
    form = {key: value.strip() for key, value in call.form().items()}
    # Forms send CRLF line breaks.
    text = form.get("text", "").replace("\r\n", "\n")
    fields = (form.get("category", ""), text, form.get("version", ""), form.get("contact", ""))
    said = ReportForm(*fields)
    place = (call.params["scope"], call.params["name"])
    most = services.settings.of(ModerationSettings).max_reports
    try:
        report_widget(services.store, call.address, *place, said, most)
    except (InvalidRequest, Conflict, TooOften) as fault:
        return _form(services, call, said, fault)
    return services.renderer.redirect(f"{call.request.path}?done=yes")


def _form(
    services: Services,
    call: Call,
    said: ReportForm,
    fault: InvalidRequest | Conflict | TooOften | None = None,
) -> Response:
    place = (call.params["scope"], call.params["name"])
    widget = find_reportable(
        services.store, *place, services.settings.of(ModerationSettings).max_reports
    )
    return services.renderer.page(
        "moderation/report.html",
        *(headers_of(fault) if fault is not None else []),
        status=status_of(fault) if fault is not None else 200,
        script_rules="connect-src 'self'",  # The account corner requests the session.
        widget=widget,
        versions=[it.number for it in widget.versions[:_VERSIONS]],
        categories=[(it, _WORDS[it]) for it in CATEGORIES],
        said=said,
        max_text=MAX_TEXT,
        is_done=call.request.method != "POST" and call.query().get("done") == "yes",
        faults=[fault.message] if fault is not None else [],
    )
