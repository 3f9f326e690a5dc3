"""The user's widgets, the management pages of one and of its versions, and its audit log. Forms to
revoke a version are in `moderation/`.
"""

from collections.abc import Mapping

import msgspec

from ..catalog.store.installs import installs_of
from ..core.errors import TooOften
from ..core.http.call import Call, Paging
from ..core.http.http import Response
from ..core.http.routing import Handler
from ..core.http.sent_form import (
    CORRECTABLE,
    NOT_SENT,
    FormChange,
    SentForm,
    forms_of,
    own_form_page,
    own_page,
)
from ..core.http.services import Services
from .api import AuthorChange
from .change_widget import name_publishers, set_official
from .quotas import Quotas
from .view_own import (
    list_own_scopes,
    list_own_widgets,
    read_widget_audit,
    view_managed_version,
    view_managed_widget,
)

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
_VERSION_DONE = {
    "yank": "The version was yanked and is no longer offered. Dashboards that use it keep working.",
    "unyank": "The version is offered again.",
    "deprecate": "The version was deprecated. Its users see a warning.",
    "undeprecate": "The version is no longer deprecated.",
    # From the forms of `moderation/revoke_pages.py`.
    "revoke": "The version was revoked. Its bundle is no longer served.",
    "revoke-everywhere": "All versions with this bundle were revoked. Nobody can publish it again.",
    "unrevoke": "The revocation was undone. The bundle is served again.",
}


def _place(call: Call) -> str:
    """The page of the widget in the path."""
    return f"{WIDGETS}/{call.key}"


def _version_place(call: Call) -> str:
    return f"{_place(call)}/versions/{call.params['version'].partition('+')[0]}"


def _widget_page(services: Services, call: Call, sent: SentForm) -> Response:
    care = view_managed_widget(services.store, call.actor, call.key)
    page, _ = call.page()
    first = (page - 1) * _VERSIONS_PER_PAGE
    return own_form_page(
        services,
        call,
        "publishing/widget.html",
        sent,
        _DONE,
        care=care,
        widget=care.widget,
        installs=installs_of(care.today, dict(care.installs)),
        may={it.name for it in care.rights},
        place=_place(call),
        versions=care.widget.versions[first : first + _VERSIONS_PER_PAGE],
        paging=Paging.of(call, page, _VERSIONS_PER_PAGE, len(care.widget.versions)),
    )


def _version_page(services: Services, call: Call, sent: SentForm) -> Response:
    number = call.params["version"]
    shown = view_managed_version(services.store, call.actor, call.key, number)
    return own_form_page(
        services,
        call,
        "publishing/version.html",
        sent,
        _VERSION_DONE,
        widget=shown.managed.widget,
        version=shown.version,
        same_bundle=shown.same_bundle,
        are_bytes_revoked=shown.are_bytes_revoked,
        may={it.name for it in shown.managed.rights},
        widget_place=_place(call),
        place=_version_place(call),
    )


_widget_form = forms_of(_widget_page, _place, (*CORRECTABLE, TooOften))
version_form = forms_of(_version_page, _version_place, (*CORRECTABLE, TooOften))


def widget_handler_of(change: AuthorChange) -> Handler:
    return _widget_form(change.name)(_by_form(change))


def version_handler_of(change: AuthorChange) -> Handler:
    return version_form(change.name)(_by_form(change))


def _by_form(change: AuthorChange) -> FormChange:
    """The change with the fields of a form; optional ones may be empty."""
    taken = () if change.body is None else msgspec.structs.fields(change.body)

    def make(services: Services, call: Call, form: Mapping[str, str]) -> None:
        given = {it.name: form.get(it.name, "") for it in taken if it.required}
        optional = {it.name: form.get(it.name, "").strip() for it in taken if not it.required}
        given |= {name: text for name, text in optional.items() if text}
        change.make(services, call, given)

    return make


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


def get_version(services: Services, call: Call) -> Response:
    return _version_page(services, call, NOT_SENT)


@_widget_form("publishers", {"": "publishers"})
def post_publishers(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    names = fields.get("publishers", "").replace(",", " ").replace("@", " ").split()
    name_publishers(services.store, call.actor, call.key, names, services.of(Quotas))


@_widget_form("official")
def post_official(services: Services, call: Call, fields: Mapping[str, str]) -> Response | None:
    is_official = fields.get("official") == "yes"
    set_official(services.store, call.actor, call.key, is_official)
    return None if is_official else services.renderer.redirect(f"{_place(call)}?done=unofficial")


def get_audit(services: Services, call: Call) -> Response:
    page, _ = call.page()
    found = read_widget_audit(services.store, call.actor, call.key, page, _ENTRIES_PER_PAGE)
    entries, total = found
    return own_page(
        services,
        call,
        "author/audit.html",
        key=call.key,
        place=_place(call),
        entries=entries,
        total=total,
        paging=Paging.of(call, page, _ENTRIES_PER_PAGE, total),
    )
