"""The operator's pages of collections."""

from collections.abc import Mapping

from ..accounts.permissions import read_as_operator
from ..catalog.collections import Collection
from ..core.db.engine import Snapshot
from ..core.errors import Conflict, InvalidRequest
from ..core.http.call import Call, Services
from ..core.http.http import Response
from ..core.http.sent_form import NOT_SENT, SentForm, forms_of, own_form_page
from . import managing
from .managing import MAX_TEXT, MAX_TITLE
from .store import find_listed, list_all

COLLECTIONS = "/operate/collections"
_LIMITS = {"max_title": MAX_TITLE, "max_text": MAX_TEXT}
_DONE = {
    "create": "The collection was created. Add widgets to it.",
    "details": "The collection was changed.",
    "widgets": "The widgets were changed.",
    "move": "The order was changed.",
    "delete": "The collection was deleted.",
}


def _place(call: Call) -> str:
    return f"{COLLECTIONS}/{call.params['slug']}"


def get_collections(services: Services, call: Call, sent: SentForm = NOT_SENT) -> Response:
    found = read_as_operator(services.store, call.actor, list_all)
    values = {"collections": found, **_LIMITS}
    return own_form_page(services, call, "collections/collections.html", sent, _DONE, **values)


def get_collection(services: Services, call: Call, sent: SentForm = NOT_SENT) -> Response:
    return _show(services, call, "collections/collection.html", sent)


def get_delete(services: Services, call: Call) -> Response:
    return _show(services, call, "collections/delete.html", NOT_SENT)


def _show(services: Services, call: Call, template: str, sent: SentForm) -> Response:
    def read(connection: Snapshot) -> tuple[Collection, dict[str, bool]]:
        found = managing.get_collection(connection, call.params["slug"])
        return found, find_listed(connection, found.widgets)

    collection, listed = read_as_operator(services.store, call.actor, read)
    values = {"collection": collection, "listed": listed, **_LIMITS}
    return own_form_page(services, call, template, sent, _DONE, **values)


def post_collection(services: Services, call: Call) -> Response:
    fields = call.form()
    wanted = Collection(
        fields.get("slug", ""),
        fields.get("title", ""),
        fields.get("text", ""),
        (),
        is_featured="featured" in fields,
    )
    try:
        created = managing.create_collection(services.store, call.actor, wanted)
    except (InvalidRequest, Conflict) as error:
        return get_collections(services, call, SentForm("create", fields, error, {"": "slug"}))
    return services.renderer.redirect(f"{COLLECTIONS}/{created.slug}?done=create")


_form = forms_of(get_collection, _place)


@_form("details", {"": "title"})
def post_details(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    title, text = fields.get("title", ""), fields.get("text", "")
    managing.change_collection(
        services.store,
        call.actor,
        call.params["slug"],
        lambda old: old._replace(title=title, text=text, is_featured="featured" in fields),
    )


@_form("widgets", {"": "widget", "widgets": "widget"})
def post_widgets(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    managing.arrange_widgets(
        services.store,
        call.actor,
        call.params["slug"],
        fields.get("widget", ""),
        fields.get("do", "add"),
    )


@forms_of(get_collections, lambda _call: COLLECTIONS)("move")
def post_move(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    store, actor, slug = services.store, call.actor, call.params["slug"]
    slugs = [it.slug for it in read_as_operator(store, actor, list_all)]
    place = slugs.index(slug) + 1 if slug in slugs else 1
    by = {"up": -1, "down": 1}.get(fields.get("do", ""), 0)
    managing.move_collection(store, actor, slug, place + by)


@forms_of(get_collections, lambda _call: COLLECTIONS)("delete")
def post_delete(services: Services, call: Call, _fields: Mapping[str, str]) -> None:
    managing.delete_collection(services.store, call.actor, call.params["slug"])
