"""Handlers: scopes to publish in; request, check and confirm a version; published widgets."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET

from widget_contract.version_files import BUNDLE, STYLE, file_path
from widget_contract.wire import Published, PublishScope, UploadTargets

from ..accounts.permissions import list_publishing_scopes
from ..catalog.replica.rendering import render_detail
from ..core.actors import Right
from ..core.errors import InvalidRequest
from ..core.http.body_fields import read_object
from ..core.http.call import Call
from ..core.http.http import Response
from ..core.http.replies import done, reply
from ..core.http.services import Services
from .change_widget import (
    deprecate_version,
    list_widget,
    name_publishers,
    set_official,
    undeprecate_version,
    unlist_widget,
    unyank_version,
    yank_version,
)
from .publish_version import publish_version
from .quotas import Quotas
from .request_version import WantedVersion, check_version, request_version
from .store import PublishRequest
from .uploads import UPLOADS, sign_upload
from .view_own import view_managed_widget


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


class AuthorChange(NamedTuple):
    """A change to a widget or a version that a route and a form make alike. The body has further
    arguments of the action.
    """

    name: str
    right: Right
    action: Callable[..., None]
    body: type[msgspec.Struct] | None = None

    def make(self, services: Services, call: Call, fields: Mapping[str, Any]) -> None:
        number = [call.params["version"]] if "version" in call.params else []
        quotas = services.of(Quotas)
        self.action(services.store, call.actor, call.key, *number, **fields, quotas=quotas)


WIDGET_CHANGES = (
    AuthorChange("list", Right.LIST, list_widget, OptionalReasonBody),
    AuthorChange("unlist", Right.LIST, unlist_widget, OptionalReasonBody),
)
VERSION_CHANGES = (
    AuthorChange("yank", Right.YANK, yank_version, ReasonBody),
    AuthorChange("unyank", Right.YANK, unyank_version),
    AuthorChange("deprecate", Right.DEPRECATE, deprecate_version, MessageBody),
    AuthorChange("undeprecate", Right.DEPRECATE, undeprecate_version),
)


def get_widget(services: Services, call: Call) -> Response:
    managed = view_managed_widget(services.store, call.actor, call.key)
    detail = render_detail(managed.widget, managed.downloads, services.settings.cdn_url)
    return reply({**detail, "listed": managed.widget.is_listed})


def post_official(services: Services, call: Call) -> Response:
    set_official(services.store, call.actor, call.key, call.json(OfficialBody).is_official)
    return done()


def get_publishers(services: Services, call: Call) -> Response:
    managed = view_managed_widget(services.store, call.actor, call.key)
    return reply({"publishers": managed.publishers})


def put_publishers(services: Services, call: Call) -> Response:
    names = call.json(PublishersBody).publishers
    name_publishers(services.store, call.actor, call.key, names, services.of(Quotas))
    return reply({"publishers": sorted(set(names))})


def get_scopes(services: Services, call: Call) -> Response:
    places = list_publishing_scopes(services.store, call.actor)
    shown = [PublishScope(str(it.name), it.kind, it.display_name) for it in places]
    return reply({"scopes": shown})


def post_publish(services: Services, call: Call) -> Response:
    body = read_object(call.body)
    match body.get("action"):
        case "request":
            return _request(services, call, body)
        case "check":
            return _check(services, call, body)
        case "confirm":
            return _confirm(services, call, body)
    raise InvalidRequest("action: must be request, check or confirm.")


def _request(services: Services, call: Call, body: dict[str, Any]) -> Response:
    services.check_bundles()  # Fail before the upload if files cannot be stored.
    most = services.settings.max_bundle_bytes
    request = request_version(services.store, call.actor, body, most, services.of(Quotas))
    uploads = {path: _upload_url(services, request, path) for path in request.files}
    cdn = _cdn_urls(services, request)
    attached = {path: url for path, url in uploads.items() if path not in (BUNDLE, STYLE)}
    shown = UploadTargets(
        uploads[BUNDLE],
        cdn[BUNDLE],
        f"{request.scope}/{request.name}",
        request.id,
        uploads.get(STYLE, UNSET),
        cdn.get(STYLE, UNSET),
        attached or UNSET,
    )
    return reply(shown)


def _check(services: Services, call: Call, body: dict[str, Any]) -> Response:
    most = services.settings.max_bundle_bytes
    wanted = check_version(services.store, call.actor, body, most, services.of(Quotas))
    cdn = _cdn_urls(services, wanted)
    shown: dict[str, object] = {"success": True, "cdnUrl": cdn[BUNDLE]}
    if STYLE in cdn:
        shown["cssUrl"] = cdn[STYLE]
    return reply(shown)


def _confirm(services: Services, call: Call, body: dict[str, Any]) -> Response:
    id_ = body.get("versionId")
    if not isinstance(id_, str):
        raise InvalidRequest("versionId: must be the text that the request was answered with.")
    request = publish_version(
        services.store,
        services.bundles,
        services.uploads,
        call.actor,
        id_,
        services.of(Quotas),
        call.prepared,
    )
    cdn = _cdn_urls(services, request)
    return reply(Published(True, cdn[BUNDLE], cdn.get(STYLE, UNSET)))


def _upload_url(services: Services, request: PublishRequest, path: str) -> str:
    target = services.bundles.upload_target(request.id, path, *request.files[path])
    if target is not None:
        return target
    signed = sign_upload(services.keys.for_purpose(UPLOADS), request.id, path, request.expires_at)
    return f"{services.settings.public_url}{signed}"


def _cdn_urls(services: Services, version: PublishRequest | WantedVersion) -> dict[str, str]:
    """Where its files are published."""
    base, place = services.settings.cdn_url, (version.scope, version.name, version.version)
    return {path: base + file_path(*place, path) for path in version.files}
