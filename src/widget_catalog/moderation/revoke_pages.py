"""Forms of operators on the management page of a version: revoke, and undo that."""

from collections.abc import Mapping

from ..core.http.call import Call
from ..core.http.services import Services
from ..publishing.widget_pages import version_form
from .revoke_version import revoke_everywhere, revoke_version, unrevoke_version


@version_form("revoke")
def post_revoke(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    store, bundles = services.store, services.bundles
    reason, version = fields.get("reason", ""), call.params["version"]
    revoke_version(store, bundles, call.actor, call.key, version, reason)


@version_form("revoke-everywhere")
def post_revoke_everywhere(services: Services, call: Call, fields: Mapping[str, str]) -> None:
    store, bundles = services.store, services.bundles
    reason, version = fields.get("reason", ""), call.params["version"]
    agreed = [it for it in fields.get("sameBundle", "").split(",") if it]
    revoke_everywhere(store, bundles, call.actor, call.key, version, reason, agreed)


@version_form("unrevoke")
def post_unrevoke(services: Services, call: Call, _fields: Mapping[str, str]) -> None:
    store, bundles, version = services.store, services.bundles, call.params["version"]
    unrevoke_version(store, bundles, call.actor, call.key, version)
