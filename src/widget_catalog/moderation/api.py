"""Handlers that revoke versions, and undo that: of the API, and of the forms of operators on the
management page of a version.
"""

from collections.abc import Mapping

import msgspec

from ..core.actors import Actor
from ..core.db.engine import Store
from ..core.files.contract import Bundles
from ..core.http.call import Call, done, reply
from ..core.http.http import Response
from ..core.http.services import Services
from ..publishing.widget_pages import version_form
from .revoke_version import revoke_everywhere, revoke_version, unrevoke_version


class RevokeBody(msgspec.Struct, rename="camel"):
    reason: str
    everywhere: bool = False
    same_bundle: list[str] = []


def _version(services: Services, call: Call) -> tuple[Store, Bundles, Actor, str, str]:
    return services.store, services.bundles, call.actor, call.key, call.params["version"]


def post_revoke(services: Services, call: Call) -> Response:
    body = call.json(RevokeBody)
    if body.everywhere:
        revoke_everywhere(*_version(services, call), body.reason, body.same_bundle)
        return reply({"success": True, "sameBundle": []})
    shared = revoke_version(*_version(services, call), body.reason)
    return reply({"success": True, "sameBundle": shared})


def post_unrevoke(services: Services, call: Call) -> Response:
    unrevoke_version(*_version(services, call))
    return done()


@version_form("revoke")
def post_revoke_form(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    revoke_version(*_version(services, call), fields.get("reason", ""))


@version_form("revoke-everywhere")
def post_everywhere_form(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    agreed = [other for other in fields.get("sameBundle", "").split(",") if other]
    revoke_everywhere(*_version(services, call), fields.get("reason", ""), agreed)


@version_form("unrevoke")
def post_unrevoke_form(services: Services, call: Call, _fields: Mapping[str, str]) -> None:
    unrevoke_version(*_version(services, call))
