"""Handlers: revoking versions, and undoing that."""

import msgspec

from ..core.http.call import Call, done, reply
from ..core.http.http import Response
from ..core.http.services import Services
from .revoke_version import revoke_everywhere, revoke_version, unrevoke_version


class RevokeBody(msgspec.Struct, rename="camel"):
    reason: str
    everywhere: bool = False
    same_bundle: list[str] = []


def post_revoke(services: Services, call: Call) -> Response:
    body = call.json(RevokeBody)
    what = (services.store, services.bundles, call.actor, call.key, call.params["version"])
    if body.everywhere:
        revoke_everywhere(*what, body.reason, body.same_bundle)
        return reply({"success": True, "sameBundle": []})
    return reply({"success": True, "sameBundle": revoke_version(*what, body.reason)})


def post_unrevoke(services: Services, call: Call) -> Response:
    version = call.params["version"]
    unrevoke_version(services.store, services.bundles, call.actor, call.key, version)
    return done()
