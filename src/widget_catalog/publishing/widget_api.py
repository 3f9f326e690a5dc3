"""Handlers: management of published widgets and versions."""

import msgspec

from ..catalog.replica.rendering import render_detail
from ..core.http.call import Call, done, reply
from ..core.http.http import Response
from ..core.http.services import Services
from ..publishing.quotas import Quotas
from .change_version import deprecate_version, undeprecate_version, unyank_version, yank_version
from .change_widget import (
    get_publishers,
    list_widget,
    name_publishers,
    set_official,
    unlist_widget,
    view_widget,
)


class ReasonBody(msgspec.Struct):
    reason: str


class OptionalReasonBody(msgspec.Struct):
    reason: str | None = None


class MessageBody(msgspec.Struct):
    message: str


class OfficialBody(msgspec.Struct, rename="camel"):
    is_official: bool | None


class PublishersBody(msgspec.Struct):
    publishers: list[str]


def get_widget(services: Services, call: Call) -> Response:
    stored, count = view_widget(services.store, call.actor, call.key)
    detail = render_detail(stored.widget, count, services.settings.cdn_url)
    return reply({**detail, "listed": stored.widget.is_listed})


def post_yank(services: Services, call: Call) -> Response:
    reason = call.json(ReasonBody).reason
    number, quotas = call.params["version"], services.of(Quotas)
    yank_version(services.store, call.actor, call.key, number, reason, quotas)
    return done()


def post_unyank(services: Services, call: Call) -> Response:
    number, quotas = call.params["version"], services.of(Quotas)
    unyank_version(services.store, call.actor, call.key, number, quotas)
    return done()


def post_deprecate(services: Services, call: Call) -> Response:
    message = call.json(MessageBody).message
    number, quotas = call.params["version"], services.of(Quotas)
    deprecate_version(services.store, call.actor, call.key, number, message, quotas)
    return done()


def post_undeprecate(services: Services, call: Call) -> Response:
    number, quotas = call.params["version"], services.of(Quotas)
    undeprecate_version(services.store, call.actor, call.key, number, quotas)
    return done()


def post_list(services: Services, call: Call) -> Response:
    reason = call.json(OptionalReasonBody).reason
    list_widget(services.store, call.actor, call.key, reason, services.of(Quotas))
    return done()


def post_unlist(services: Services, call: Call) -> Response:
    reason = call.json(OptionalReasonBody).reason
    unlist_widget(services.store, call.actor, call.key, reason, services.of(Quotas))
    return done()


def post_official(services: Services, call: Call) -> Response:
    set_official(services.store, call.actor, call.key, call.json(OfficialBody).is_official)
    return done()


def get_widget_publishers(services: Services, call: Call) -> Response:
    return reply({"publishers": get_publishers(services.store, call.actor, call.key)})


def put_publishers(services: Services, call: Call) -> Response:
    names = call.json(PublishersBody).publishers
    name_publishers(services.store, call.actor, call.key, names, services.of(Quotas))
    return reply({"publishers": sorted(set(names))})
