"""Handlers of the internal API: collections, for operators."""

from typing import Any

import msgspec

from ..accounts.permissions import read_as_operator
from ..catalog.collections import Collection
from ..core.http.call import Call, Services, done, reply
from ..core.http.http import Response
from . import managing
from .store import list_all


class CollectionBody(msgspec.Struct, rename="camel", kw_only=True):
    title: str
    slug: str = ""
    text: str = ""
    widgets: list[str] = []
    is_featured: bool = True


class ChangedBody(msgspec.Struct, rename="camel", kw_only=True):
    title: str
    text: str = ""
    widgets: list[str] = []
    is_featured: bool = True


class MoveBody(msgspec.Struct):
    position: int


def shown(it: Collection) -> dict[str, Any]:
    return {
        "slug": it.slug,
        "title": it.title,
        "text": it.text,
        "widgets": it.widgets,
        "isFeatured": it.is_featured,
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
    wanted = Collection(body.slug, body.title, body.text, tuple(body.widgets), body.is_featured)
    created = managing.create_collection(services.store, call.actor, wanted)
    return reply(shown(created), status=201)


def put_collection(services: Services, call: Call) -> Response:
    body = call.json(ChangedBody)
    new = Collection("", body.title, body.text, tuple(body.widgets), body.is_featured)
    slug = call.params["slug"]
    changed = managing.change_collection(
        services.store, call.actor, slug, lambda old: new._replace(slug=old.slug)
    )
    return reply(shown(changed))


def post_move(services: Services, call: Call) -> Response:
    position = call.json(MoveBody).position
    managing.move_collection(services.store, call.actor, call.params["slug"], position)
    return done()


def delete_collection(services: Services, call: Call) -> Response:
    managing.delete_collection(services.store, call.actor, call.params["slug"])
    return done()
