"""The names in use: reserve and release."""

from collections.abc import Mapping

from ....actions.operate_catalog import search_scopes
from ....actions.reserve_scope import release_scope, reserve_scope
from ....domain.errors import NotFound
from ...kit.call import Call, Services
from ...kit.http import Response
from ..account.own_page import own_page
from ..account.sent_form import CORRECTABLE, NOT_SENT, SentForm, take_form
from ..author.paging import Paging

SCOPES = "/operate/scopes"
KINDS = ("reserved", "organization", "personal")
_PER_PAGE = 50
_DONE = {"reserve": "The name was reserved.", "release": "The name was released."}


def get_scopes(services: Services, call: Call) -> Response:
    return _page(services, call, NOT_SENT)


def post_reserve(services: Services, call: Call) -> Response:
    def change(fields: Mapping[str, str]) -> None:
        reserve_scope(services.store, _name_in(fields), call.actor)

    return take_form(services, call, "reserve", change, _page, SCOPES)


def post_release(services: Services, call: Call) -> Response:
    def change(fields: Mapping[str, str]) -> None:
        release_scope(services.store, _name_in(fields), call.actor)

    correctable = (*CORRECTABLE, NotFound)
    return take_form(services, call, "release", change, _page, SCOPES, correctable=correctable)


def _name_in(fields: Mapping[str, str]) -> str:
    return fields.get("name", "").strip().removeprefix("@")


def _page(services: Services, call: Call, sent: SentForm) -> Response:
    kind = call.query().get("kind")
    kind = kind if kind in KINDS else None
    page, _ = call.page()
    found, total = search_scopes(services.store, call.actor, kind, page, _PER_PAGE)
    return own_page(
        services,
        call,
        "operator/scopes.html",
        *sent.headers,
        status=sent.status,
        scopes=found,
        kind=kind,
        kinds=KINDS,
        total=total,
        paging=Paging.of(call, page, _PER_PAGE, total),
        sent=sent,
        done=_DONE.get(call.query().get("done", "")),
    )
