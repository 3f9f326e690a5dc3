"""Handlers: scopes to publish in; request, check and confirm a version."""

from typing import Any

from msgspec import UNSET

from widget_contract.addresses import file_path
from widget_contract.wire import Published, PublishScope, UploadTargets

from ..accounts.permissions import list_publishing_scopes
from ..core.errors import InvalidRequest
from ..core.files.contract import Kind
from ..core.http.bodies import read_object
from ..core.http.call import Call, reply
from ..core.http.http import Response
from ..core.http.services import Services
from ..publishing.quotas import Quotas
from ..publishing.signed_uploads import UPLOADS
from .publish_version import publish_version
from .request_version import check_version, request_version
from .signed_uploads import sign_upload
from .store import PublishRequest


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
    has_style = request.css_size is not None
    shown = UploadTargets(
        _upload_url(services, request, "js"),
        _published_url(services, request, "js"),
        f"{request.scope}/{request.name}",
        request.id,
        _upload_url(services, request, "css") if has_style else UNSET,
        _published_url(services, request, "css") if has_style else UNSET,
    )
    return reply(shown)


def _check(services: Services, call: Call, body: dict[str, Any]) -> Response:
    most = services.settings.max_bundle_bytes
    wanted = check_version(services.store, call.actor, body, most, services.of(Quotas))
    manifest, cdn_url = wanted.manifest, services.settings.cdn_url
    place = (wanted.scope, manifest.name, manifest.version.text)
    shown: dict[str, object] = {"success": True, "cdnUrl": cdn_url + file_path(*place, "js")}
    if wanted.style is not None:
        shown["cssUrl"] = cdn_url + file_path(*place, "css")
    return reply(shown)


def _confirm(services: Services, call: Call, body: dict[str, Any]) -> Response:
    id_ = body.get("versionId")
    if not isinstance(id_, str):
        raise InvalidRequest("versionId: must be the text that the request was answered with.")
    request = publish_version(
        services.store, services.bundles, services.uploads, call.actor, id_, services.of(Quotas)
    )
    bundle_url = _published_url(services, request, "js")
    has_style = request.css_size is not None
    css_url = _published_url(services, request, "css") if has_style else UNSET
    return reply(Published(True, bundle_url, css_url))


def _upload_url(services: Services, request: PublishRequest, kind: Kind) -> str:
    size_bytes, sha256_hash = request.bundle_size, request.sha256_hash
    if kind == "css":
        size_bytes, sha256_hash = request.css_size or 0, request.css_sha256_hash or ""
    target = services.bundles.upload_target(request.id, kind, size_bytes, sha256_hash)
    if target is not None:
        return target
    signed = sign_upload(services.keys.for_purpose(UPLOADS), request.id, kind, request.expires_at)
    return f"{services.settings.public_url}{signed}"


def _published_url(services: Services, request: PublishRequest, kind: Kind) -> str:
    path = file_path(request.scope, request.name, request.version, kind)
    return services.settings.cdn_url + path
