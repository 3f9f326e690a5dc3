"""The user's widgets, the management page of one, and its audit log."""

from collections.abc import Mapping

from ...accounts.pages.own_page import own_page
from ...catalog.installs import installs_of
from ...core.errors import TooOften
from ...core.http.call import Call, Paging
from ...core.http.http import Response
from ...core.http.sent_form import CORRECTABLE, NOT_SENT, SentForm, forms_of, take_form
from ...core.http.services import Services
from ...publishing.quotas import Quotas
from ..change_widget import list_widget, name_publishers, set_official, unlist_widget
from ..view_own import list_own_scopes, list_own_widgets, read_widget_audit, view_managed_widget

WIDGETS = "/account/widgets"
_PER_PAGE = 20
_VERSIONS_PER_PAGE = 50
_ENTRIES_PER_PAGE = 50
_DONE = {
    "published": "The version was published and is now offered to dashboards.",
    "list": "The widget is listed and public.",
    "unlist": "The widget was unlisted. Dashboards that use it keep working.",
    "publishers": "The publishers were saved.",
    "official": "The widget is official.",
    "unofficial": "The widget is no longer official.",
}


def place_of(call: Call) -> str:
    """The page of the widget in the path."""
    return f"{WIDGETS}/{call.key}"


def _widget_page(services: Services, call: Call, sent: SentForm) -> Response:
    care = view_managed_widget(services.store, call.actor, call.key)
    page, _ = call.page()
    first = (page - 1) * _VERSIONS_PER_PAGE
    return own_page(
        services,
        call,
        "publishing/widget.html",
        *sent.headers,
        status=sent.status,
        care=care,
        widget=care.widget,
        installs=installs_of(care.today, dict(care.installs)),
        may={it.name for it in care.rights},
        place=place_of(call),
        versions=care.widget.versions[first : first + _VERSIONS_PER_PAGE],
        paging=Paging.of(call, page, _VERSIONS_PER_PAGE, len(care.widget.versions)),
        sent=sent,
        done=_DONE.get(call.query().get("done", "")),
    )


_form = forms_of(_widget_page, place_of, (*CORRECTABLE, TooOften))


def get_widgets(services: Services, call: Call) -> Response:
    scope = call.query().get("scope") or None
    page, _ = call.page()
    widgets, total = list_own_widgets(services.store, call.actor, scope, page, _PER_PAGE)
    return own_page(
        services,
        call,
        "publishing/widgets.html",
        scopes=list_own_scopes(services.store, call.actor),
        scope=scope,
        widgets=widgets,
        total=total,
        paging=Paging.of(call, page, _PER_PAGE, total),
    )


def get_widget(services: Services, call: Call) -> Response:
    return _widget_page(services, call, NOT_SENT)


@_form("list")
def post_list(services: Services, call: Call, _fields: Mapping[str, str]) -> None:
    list_widget(services.store, call.actor, call.key, quotas=services.of(Quotas))


@_form("unlist")
def post_unlist(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    reason = fields.get("reason", "").strip() or None
    unlist_widget(services.store, call.actor, call.key, reason, services.of(Quotas))


@_form("publishers")
def post_publishers(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    names = fields.get("publishers", "").replace(",", " ").replace("@", " ").split()
    name_publishers(services.store, call.actor, call.key, names, services.of(Quotas))


def post_official(services: Services, call: Call) -> Response:
    is_official = call.form().get("official") == "yes"

    def change(_fields: Mapping[str, str]) -> None:
        set_official(services.store, call.actor, call.key, is_official)

    form = "official" if is_official else "unofficial"
    return take_form(services, call, form, change, _widget_page, place_of(call))


def get_audit(services: Services, call: Call) -> Response:
    page, _ = call.page()
    found = read_widget_audit(services.store, call.actor, call.key, page, _ENTRIES_PER_PAGE)
    entries, total = found
    return own_page(
        services,
        call,
        "author/audit.html",
        key=call.key,
        place=place_of(call),
        entries=entries,
        total=total,
        paging=Paging.of(call, page, _ENTRIES_PER_PAGE, total),
    )
