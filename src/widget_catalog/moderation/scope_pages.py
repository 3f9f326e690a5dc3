"""The names in use: reserve and release; scopes without an owner: assign."""

from collections.abc import Mapping, Sequence

from ..accounts.pages.own_page import own_page
from ..accounts.store import TakenScope
from ..catalog.store.scopes import OwnerlessScope
from ..core.errors import NotFound
from ..core.http.call import Call
from ..core.http.http import Response
from ..core.http.paging import Paging
from ..core.http.sent_form import CORRECTABLE, NOT_SENT, SentForm, take_form
from ..core.http.services import Services
from .assign_scope import assign_scope, search_ownerless, search_scopes
from .reserve_scope import release_scope, reserve_scope

SCOPES = "/operate/scopes"
OWNERLESS = "ownerless"
KINDS = ("reserved", "organization", "personal", OWNERLESS)
_PER_PAGE = 50
_DONE = {
    "reserve": "The name was reserved.",
    "release": "The name was released.",
    "assign": "The scope was assigned. It is now an organization.",
}
_CORRECTABLE = (*CORRECTABLE, NotFound)


def get_scopes(services: Services, call: Call) -> Response:
    return _page(services, call, NOT_SENT)


def post_reserve(services: Services, call: Call) -> Response:
    def change(fields: Mapping[str, str]) -> None:
        reserve_scope(services.store, _name_in(fields), call.actor)

    return take_form(services, call, "reserve", change, _page, SCOPES)


def post_release(services: Services, call: Call) -> Response:
    def change(fields: Mapping[str, str]) -> None:
        release_scope(services.store, _name_in(fields), call.actor)

    return take_form(services, call, "release", change, _page, SCOPES, correctable=_CORRECTABLE)


def post_assign(services: Services, call: Call) -> Response:
    def change(fields: Mapping[str, str]) -> None:
        username = fields.get("username", "").strip().removeprefix("@")
        assign_scope(services.store, _name_in(fields), username, actor=call.actor)

    return take_form(services, call, "assign", change, _page, SCOPES, correctable=_CORRECTABLE)


def _name_in(fields: Mapping[str, str]) -> str:
    return fields.get("name", "").strip().removeprefix("@")


def _list(
    services: Services, call: Call, kind: str | None, page: int
) -> tuple[Sequence[TakenScope | OwnerlessScope], int]:
    if kind == OWNERLESS:
        return search_ownerless(services.store, call.actor, page, _PER_PAGE)
    return search_scopes(services.store, call.actor, kind, page, _PER_PAGE)


def _page(services: Services, call: Call, sent: SentForm) -> Response:
    kind = OWNERLESS if sent.name == "assign" else call.query().get("kind")
    kind = kind if kind in KINDS else None
    page, _ = call.page()
    found, total = _list(services, call, kind, page)
    return own_page(
        services,
        call,
        "moderation/scopes.html",
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
