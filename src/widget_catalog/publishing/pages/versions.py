"""The management page of a version: yank, deprecate. Revoking is in `moderation/`."""

from collections.abc import Mapping

from ...accounts.pages.own_page import own_page
from ...core.errors import TooOften
from ...core.http.call import Call
from ...core.http.http import Response
from ...core.http.sent_form import CORRECTABLE, NOT_SENT, SentForm, forms_of
from ...core.http.services import Services
from ...publishing.quotas import Quotas
from ..change_version import deprecate_version, undeprecate_version, unyank_version, yank_version
from ..view_own import view_managed_version
from .widgets import place_of

_DONE = {
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
    identity = call.params["version"].partition("+")[0]
    return f"{place_of(call)}/versions/{identity}"


def _page(services: Services, call: Call, sent: SentForm) -> Response:
    number = call.params["version"]
    shown = view_managed_version(services.store, call.actor, call.key, number)
    care = shown.managed
    return own_page(
        services,
        call,
        "publishing/version.html",
        *sent.headers,
        status=sent.status,
        widget=care.widget,
        version=shown.version,
        same_bundle=shown.same_bundle,
        are_bytes_revoked=shown.are_bytes_revoked,
        may={it.name for it in care.rights},
        widget_place=place_of(call),
        place=_place(call),
        sent=sent,
        done=_DONE.get(call.query().get("done", "")),
    )


version_form = forms_of(_page, _place, (*CORRECTABLE, TooOften))


def get_version(services: Services, call: Call) -> Response:
    return _page(services, call, NOT_SENT)


@version_form("yank")
def post_yank(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    reason = fields.get("reason", "")
    number, quotas = call.params["version"], services.of(Quotas)
    yank_version(services.store, call.actor, call.key, number, reason, quotas)


@version_form("unyank")
def post_unyank(services: Services, call: Call, _fields: Mapping[str, str]) -> None:
    number, quotas = call.params["version"], services.of(Quotas)
    unyank_version(services.store, call.actor, call.key, number, quotas)


@version_form("deprecate")
def post_deprecate(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    message = fields.get("message", "")
    number, quotas = call.params["version"], services.of(Quotas)
    deprecate_version(services.store, call.actor, call.key, number, message, quotas)


@version_form("undeprecate")
def post_undeprecate(services: Services, call: Call, _fields: Mapping[str, str]) -> None:
    number, quotas = call.params["version"], services.of(Quotas)
    undeprecate_version(services.store, call.actor, call.key, number, quotas)
