"""Collections for operators: handlers of the internal API, and pages."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from ..accounts.permissions import read_as_operator
from ..core.db.engine import Snapshot
from ..core.errors import Conflict, InvalidRequest, NotFound
from ..core.http.call import Call
from ..core.http.http import Response
from ..core.http.replies import done, reply
from ..core.http.routing import Route, Who, page
from ..core.http.sent_form import (
    NOT_SENT,
    SentForm,
    forms_of,
    own_form_page,
    require_unchanged,
    seen_in,
    tag_of,
)
from ..core.http.services import Services
from . import managing
from .managing import MAX_TEXT, MAX_TITLE
from .store import Collection, find_listed, list_all

_API = "/api/collections"
_ONE = _API + "/{slug}"
COLLECTIONS = "/operate/collections"
_PAGE = COLLECTIONS + "/{slug}"
_LIMITS = {"max_title": MAX_TITLE, "max_text": MAX_TEXT}
# A text of 2,000 characters, each of which may take 12 bytes in a form; 100 widgets.
_MAX_BODY = 65_536
_DONE = {
    "create": "The collection was created. Add widgets to it.",
    "details": "The collection was changed.",
    "widgets": "The widgets were changed.",
    "unlisted": "The widget was added. It is unlisted: it is not shown until it is listed again.",
    "move": "The order was changed.",
    "delete": "The collection was deleted.",
}
_DELETED = (
    "This collection was deleted meanwhile. What you entered is below: Create makes a new "
    "collection of it, at the same address, without widgets."
)


class ChangedBody(msgspec.Struct, rename="camel", kw_only=True):
    title: str
    text: str = ""
    widgets: list[str] = []
    is_featured: bool = True

    def collection(self, slug: str) -> Collection:
        return Collection(slug, self.title, self.text, tuple(self.widgets), self.is_featured)


class CollectionBody(ChangedBody, kw_only=True):
    slug: str = ""


class MoveBody(msgspec.Struct):
    position: int


def shown(collection: Collection) -> dict[str, Any]:
    return {
        "slug": collection.slug,
        "title": collection.title,
        "text": collection.text,
        "widgets": collection.widgets,
        "isFeatured": collection.is_featured,
    }


def get_collections(services: Services, call: Call) -> Response:
    found = read_as_operator(services.store, call.actor, list_all)
    return reply({"collections": [shown(it) for it in found]})


def get_collection(services: Services, call: Call) -> Response:
    slug = call.params["slug"]
    found = read_as_operator(services.store, call.actor, managing.get_collection, slug)
    return reply(shown(found))


def post_collection(services: Services, call: Call) -> Response:
    body = call.json(CollectionBody)
    wanted = body.collection(body.slug)
    created = managing.create_collection(services.store, call.actor, wanted)
    return reply(shown(created), status=201)


def put_collection(services: Services, call: Call) -> Response:
    body, slug = call.json(ChangedBody), call.params["slug"]
    changed = managing.change_collection(
        services.store, call.actor, slug, lambda old: body.collection(old.slug)
    )
    return reply(shown(changed))


def post_move(services: Services, call: Call) -> Response:
    position = call.json(MoveBody).position
    managing.move_collection(services.store, call.actor, call.params["slug"], position)
    return done()


def delete_collection(services: Services, call: Call) -> Response:
    managing.delete_collection(services.store, call.actor, call.params["slug"])
    return done()


def _list_place(_call: Call) -> str:
    return COLLECTIONS


def _place(call: Call) -> str:
    return f"{COLLECTIONS}/{call.params['slug']}"


def get_collections_page(services: Services, call: Call, sent: SentForm = NOT_SENT) -> Response:
    found = read_as_operator(services.store, call.actor, list_all)
    values = {"collections": found, **_LIMITS}
    return own_form_page(services, call, "collections/collections.html", sent, _DONE, **values)


def get_collection_page(services: Services, call: Call, sent: SentForm = NOT_SENT) -> Response:
    return _show(services, call, "collections/collection.html", sent)


def get_delete_page(services: Services, call: Call) -> Response:
    return _show(services, call, "collections/delete.html", NOT_SENT)


def _show(services: Services, call: Call, template: str, sent: SentForm) -> Response:
    def read(connection: Snapshot) -> tuple[Collection, dict[str, bool]]:
        found = managing.get_collection(connection, call.params["slug"])
        return found, find_listed(connection, found.widgets)

    collection, listed = read_as_operator(services.store, call.actor, read)
    seen = seen_in(call, sent, _tag(collection))
    values = {"collection": collection, "listed": listed, "seen": seen, **_LIMITS}
    return own_form_page(services, call, template, sent, _DONE, **values)


def post_create_form(services: Services, call: Call) -> Response:
    fields = call.form()
    slug, title, text = (fields.get(it, "") for it in ("slug", "title", "text"))
    wanted = Collection(slug, title, text, (), is_featured="featured" in fields)
    try:
        created = managing.create_collection(services.store, call.actor, wanted)
    except (InvalidRequest, Conflict) as error:
        return get_collections_page(services, call, SentForm("create", fields, error, {"": "slug"}))
    return services.renderer.redirect(f"{COLLECTIONS}/{created.slug}?done=create")


_form = forms_of(get_collection_page, _place)
_list_form = forms_of(get_collections_page, _list_place)


@_form("details", {"": "title"})
def post_details_form(services: Services, call: Call, fields: Mapping[str, str]) -> Response | None:
    """If it was deleted meanwhile, it can be created again with what was entered."""
    title, text, slug = fields.get("title", ""), fields.get("text", ""), call.params["slug"]

    def changed(old: Collection) -> Collection:
        require_unchanged(fields, _tag(old), "this collection")
        return old._replace(title=title, text=text, is_featured="featured" in fields)

    try:
        managing.change_collection(services.store, call.actor, slug, changed)
    except NotFound:
        sent = SentForm("create", {**fields, "slug": slug}, Conflict(_DELETED))
        return get_collections_page(services, call, sent)
    return None


def _tag(collection: Collection) -> str:
    """Of what the form for details replaces."""
    return tag_of((collection.title, collection.text, collection.is_featured))


@_form("widgets", {"": "widget", "widgets": "widget"})
def post_widgets_form(services: Services, call: Call, fields: Mapping[str, str]) -> Response | None:
    store, widget, do = (
        services.store,
        _widget_of(fields.get("widget", "")),
        fields.get("do", "add"),
    )
    changed = managing.arrange_widgets(store, call.actor, call.params["slug"], widget, do)
    added = changed.widgets[-1:] if do == "add" else ()
    if all(read_as_operator(store, call.actor, find_listed, added).values()):
        return None
    return services.renderer.redirect(f"{_place(call)}?done=unlisted")


def _widget_of(typed: str) -> str:
    """The key of a widget, from itself or from the address of its page."""
    _, is_address, path = typed.partition("/widgets/")
    return "/".join(re.split("[/?#]", path)[:2]) if is_address else typed


@_list_form("move")
def post_move_form(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    store, actor, slug = services.store, call.actor, call.params["slug"]
    slugs = [it.slug for it in read_as_operator(store, actor, list_all)]
    place = slugs.index(slug) + 1 if slug in slugs else 1
    by = {"up": -1, "down": 1}.get(fields.get("do", ""), 0)
    managing.move_collection(store, actor, slug, place + by)


@_list_form("delete")
def post_delete_form(services: Services, call: Call, _fields: Mapping[str, str]) -> None:
    managing.delete_collection(services.store, call.actor, call.params["slug"])


_route = partial(Route, needs=Who.OPERATOR, max_body=_MAX_BODY)
_page = partial(page, needs=Who.OPERATOR, max_body=_MAX_BODY)

ROUTES = (
    _route("GET", _API, get_collections),
    _route("POST", _API, post_collection),
    _route("GET", _ONE, get_collection),
    _route("PUT", _ONE, put_collection),
    _route("DELETE", _ONE, delete_collection),
    _route("POST", _ONE + "/move", post_move),
    _page("GET", COLLECTIONS, get_collections_page),
    _page("POST", COLLECTIONS, post_create_form),
    _page("GET", _PAGE, get_collection_page),
    _page("POST", _PAGE, post_details_form),
    _page("POST", _PAGE + "/widgets", post_widgets_form),
    _page("POST", _PAGE + "/move", post_move_form),
    _page("GET", _PAGE + "/delete", get_delete_page),
    _page("POST", _PAGE + "/delete", post_delete_form),
)
