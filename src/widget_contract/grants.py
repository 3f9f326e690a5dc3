"""Whether a widget may make a call of its context: what is granted by the dashboard and declared by
the version. What has no rule here is refused, and so is what cannot be read.

`clients/js/grants.js` has the same rules; `vectors/grants.json` compares the two.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from .capabilities import Permission, covers, parse_capabilities, requested
from .described import ENTITY
from .wire_running import Capability

# What a service could take for its target, besides the entity that was checked.
_TARGETS = frozenset(
    ("entity_id", "device_id", "area_id", "floor_id", "label_id", "target", "__proto__")
)
_MAX_HOST_LENGTH = 253
_ENTITY = re.compile(ENTITY)
_SERVICE = re.compile(r"([a-z_][a-z0-9_]*)\.([A-Za-z0-9_]{1,64})")
_HOST = re.compile(r"[a-z0-9.-]+")
_ODD_IN_ADDRESS = re.compile(r"[\x00-\x20\\]")

IsEnough = Callable[[Permission], bool]


class Grants:
    """What is in force of a version. Grants and what is declared are names of permissions, and
    objects as among the capabilities of a manifest."""

    def __init__(self, granted: Sequence[object], declared: Sequence[object]) -> None:
        self._granted = _permissions(granted)
        self._declared = _permissions(declared)

    def offers(self, key: str) -> bool:
        """Whether the key exists in the context."""
        kind = _KINDS.get(key, "")
        declared = [it for it in self._declared if _is_of(it, kind)]
        return any(_meet(one, it) for one in self._granted if _is_of(one, kind) for it in declared)

    def allow(self, key: str, arguments: Sequence[Any]) -> bool:
        """Whether a call with these arguments is granted."""
        try:
            is_enough = _RULES[_KINDS[key]](*arguments) if key in _KINDS else _never
        except (TypeError, ValueError, RecursionError):
            return False
        return any(map(is_enough, self._granted)) and any(map(is_enough, self._declared))


def _permissions(stated: Sequence[object]) -> tuple[Permission, ...]:
    names = [it for it in stated if isinstance(it, str)]
    return (*requested(names, None), *parse_capabilities(_objects(stated)).capabilities)


def _objects(stated: Sequence[object]) -> list[object]:
    return [it for it in stated if isinstance(it, Mapping)]


def _never(_: Permission) -> bool:
    return False


def _covering(needed: Permission) -> IsEnough:
    return lambda it: covers(it, needed)


def _meet(one: Permission, other: Permission) -> bool:
    if isinstance(one, Capability) and isinstance(other, Capability):
        return one.domain == other.domain
    return covers(one, other) or covers(other, one)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise TypeError


def _fetching(address: object) -> IsEnough:
    address = _text(address)
    parts = urlsplit(address)
    host = parts.hostname or ""
    is_plain = parts.scheme == "https" and parts.port in (None, 443) and "@" not in parts.netloc
    if not is_plain or _ODD_IN_ADDRESS.search(address) or not _HOST.fullmatch(host):
        return _never
    return _never if len(host) > _MAX_HOST_LENGTH else _covering(f"network:{host}")


def _reading(pattern: object) -> IsEnough:
    """One entity, or a pattern: then the domain has to be granted, and what is found is checked."""
    pattern = _text(pattern)
    domain = _domain_of(pattern)
    if "*" in pattern:
        return lambda it: isinstance(it, Capability) and it.domain == domain
    return _covering(Capability(domain, "read", (pattern,)))


def _acting(service: object, call: object) -> IsEnough:
    stated = call if isinstance(call, dict) else {}
    entity, data = stated.get("entity"), stated.get("data", {})
    service, entity = _text(service), _text(entity)
    named, domain = _SERVICE.fullmatch(service), _domain_of(entity)
    if named is None or named[1] != domain or "*" in entity:
        return _never
    if not isinstance(data, dict) or _has_target(data):
        return _never
    needed = [Capability(domain, "control", (entity,), (it,)) for it in (named[2], service)]
    return lambda it: any(covers(it, one) for one in needed)


def _domain_of(entity: str) -> str:
    domain, _, _ = entity.partition(".")
    if not _ENTITY.fullmatch(entity) or "*" in domain:
        raise ValueError
    return domain


def _has_target(value: object) -> bool:
    if isinstance(value, list):
        return any(map(_has_target, value))
    if not isinstance(value, dict):
        return False
    return any(key in _TARGETS or _has_target(it) for key, it in value.items())


def _is_of(permission: Permission, kind: str) -> bool:
    if isinstance(permission, str):
        return permission.partition(":")[0] == kind
    return permission.access == kind or (permission.access == "control" and kind == "read")


# The kind of permission that a key of the context needs.
_KINDS = {
    "storage": "storage",
    "locate": "geolocation",
    "fetchJson": "network",
    "fetchImage": "network",
    "states": "read",
    "watchStates": "read",
    "call": "control",
}
# One function for each kind: whether one permission is enough for a call with these arguments.
_RULES: Mapping[str, Callable[..., IsEnough]] = {
    "storage": lambda: _covering("storage"),
    "geolocation": lambda: _covering("geolocation"),
    "network": _fetching,
    "read": _reading,
    "control": _acting,
}
