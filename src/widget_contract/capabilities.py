"""The capabilities of a manifest: their validation, when one permission covers another, and how
they are described to people.

A capability grants `read` or `control` of a domain, such as locks, perhaps narrowed to some
entities or services. Among the permissions of a version it appears as `control:lock`; a declared
permission of this form is the same as a capability that is not narrowed.

`network` is any host, `network:api.example` one, and `network:*.example` all below `example`.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET

from .described import ENTITY, SERVICE
from .wire_running import Capability

MAX_CAPABILITIES = 32
# Of entities and services in all.
MAX_NARROWED = 128
# Of an entity of one version with a pattern of another: as many as 32 capabilities with a pattern
# each need. They take about a millisecond.
_MAX_COMPARISONS = MAX_CAPABILITIES**2

_DOMAIN = re.compile(r"[a-z_][a-z0-9_]{0,63}\Z")
_ENTITY = re.compile(ENTITY)
_SERVICE = re.compile(SERVICE)
_NAMED = re.compile(r"(read|control):([a-z_][a-z0-9_]*)\Z")

_EXAMPLE = '{"domain": "lock", "access": "control"}'
_DOMAIN_RULE = "must be 1 to 64 lowercase letters, digits and _, such as media_player."
_AN_ENTITY, _A_SERVICE = "pattern such as lock.front_*", "name such as unlock"

Permission = str | Capability
"""What a version requests: a permission by its name, or a capability."""


class Parsed(NamedTuple):
    capabilities: tuple[Capability, ...]
    errors: list[str]
    """Each a field and a sentence."""


def parse_capabilities(stated: object) -> Parsed:
    """The valid ones among the stated capabilities, and every error of the others."""
    if stated is None:
        return Parsed((), [])
    errors: list[str] = []
    if not isinstance(stated, list) or len(stated) > MAX_CAPABILITIES:
        most = f"must be a list of at most {MAX_CAPABILITIES} objects"
        errors.append(f"capabilities: {most}, such as {_EXAMPLE}.")
    found, narrowed = [], 0
    for i, value in enumerate(stated[:MAX_CAPABILITIES] if isinstance(stated, list) else ()):
        at = f"capabilities[{i}]"
        if not isinstance(value, dict):
            errors.append(f"{at}: must be an object such as {_EXAMPLE}.")
            continue
        narrowed += sum(len(many) for many in _lists_of(value))
        if narrowed > MAX_NARROWED:
            most = f"more than {MAX_NARROWED} entities and services in all."
            errors.append(f"capabilities: must not name {most}")
            break
        wrong = [f"{at}.{error}" for error in _errors_of(value)]
        errors += wrong
        if not wrong:
            found.append(_capability(value))
    return Parsed(tuple(found), errors)


def _lists_of(stated: Mapping[str, Any]) -> list[list[object]]:
    return [it for key in ("entities", "services") if isinstance(it := stated.get(key), list)]


def _errors_of(stated: Mapping[str, Any]) -> Iterable[str]:
    domain, access = stated.get("domain"), stated.get("access")
    if domain is None:
        yield "domain: is missing."
    elif not isinstance(domain, str) or not _DOMAIN.match(domain):
        yield f"domain: {_DOMAIN_RULE}"
    if access is None:
        yield "access: is missing."
    elif access not in ("read", "control"):
        yield "access: must be read or control."
    yield from _list_errors(stated, "entities", _ENTITY, _AN_ENTITY)
    yield from _list_errors(stated, "services", _SERVICE, _A_SERVICE)


def _list_errors(
    stated: Mapping[str, Any], key: str, pattern: re.Pattern[str], item: str
) -> Iterable[str]:
    found = stated.get(key)
    if found is None:
        return
    if not isinstance(found, list) or not found:
        yield f"{key}: must be a list with at least one {item}."
        return
    for i, value in enumerate(found):
        if not isinstance(value, str) or not pattern.fullmatch(value):
            yield f"{key}[{i}]: {ascii(value)[:80]} is not a {item}."


def _capability(stated: Mapping[str, Any]) -> Capability:
    entities, services = stated.get("entities"), stated.get("services")
    return Capability(
        stated["domain"],
        stated["access"],
        UNSET if entities is None else tuple(entities),
        UNSET if services is None else tuple(services),
    )


class _Stated(msgspec.Struct):
    permissions: Any = None
    capabilities: Any = None


_decode_stated = msgspec.json.Decoder(_Stated).decode


def capabilities_in(manifest: str | bytes | None) -> tuple[Capability, ...]:
    """The valid capabilities of a stored manifest, which may be any text."""
    return parse_capabilities(_stated_in(manifest).capabilities).capabilities


def _stated_in(manifest: str | bytes | None) -> _Stated:
    if manifest is None:
        return _Stated()
    try:
        return _decode_stated(manifest)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return _Stated()


def may_state_capabilities(manifest: str) -> bool:
    """A fast check, for imports: false only if a manifest certainly has none."""
    return "capabilities" in manifest or "\\u" in manifest


def with_capabilities(
    permissions: Sequence[str], capabilities: Iterable[Capability]
) -> tuple[str, ...]:
    """The declared permissions, then those of the capabilities, each once."""
    names = dict.fromkeys(map(name_of, capabilities))
    return (*permissions, *(it for it in names if it not in permissions))


def may_be_narrowed(permissions: Iterable[str]) -> bool:
    """Whether any of these may come from a capability, which its manifest describes."""
    return any(it.startswith(("read:", "control:")) for it in permissions)


def requested(permissions: Iterable[str], manifest: str | bytes | None) -> tuple[Permission, ...]:
    """What a version with these permissions and this manifest requests."""
    stated = _stated_in(manifest)
    by_name: dict[str, list[Capability]] = {}
    for capability in parse_capabilities(stated.capabilities).capabilities:
        by_name.setdefault(name_of(capability), []).append(capability)
    declared = stated.permissions if isinstance(stated.permissions, list) else ()
    found: list[Permission] = []
    for name in dict.fromkeys(permissions):
        if name not in by_name or name in declared:
            found.append(_declared(name))
        found += by_name.get(name, ())
    return tuple(found)


def _declared(name: str) -> Permission:
    named = _NAMED.match(name)
    return name if named is None else Capability(named[2], named[1])  # type: ignore[arg-type]


class PermissionChanges(NamedTuple):
    """What one version requests in addition to another, and what it no longer requests."""

    added: tuple[Permission, ...] = ()
    removed: tuple[Permission, ...] = ()


def permission_changes(old: Sequence[Permission], new: Sequence[Permission]) -> PermissionChanges:
    if old == new:
        return PermissionChanges()
    return PermissionChanges(_uncovered(new, old), _uncovered(old, new))


def _uncovered(some: Iterable[Permission], by: Sequence[Permission]) -> tuple[Permission, ...]:
    known = frozenset(by)
    others = tuple(it for it in some if it not in known)
    if not others:
        return ()
    granted = _Granted(by)
    return tuple(it for it in others if not granted.covers(it))


def covers(old: Permission, new: Permission) -> bool:
    """Whether somebody who has granted the old one has granted the new one, too.

    `control` includes `read`. Without `entities` a capability is for all entities of its domain,
    without `services` for all services.
    """
    return _Granted([old]).covers(new)


class _Granted:
    """What was granted, prepared for comparisons with many others.

    Pages and `resolve` compare versions of authors, who choose the patterns, while others wait. So
    no more than `_MAX_COMPARISONS` pairs of patterns are compared; beyond that, only an entity that
    is written alike is covered.
    """

    def __init__(self, granted: Sequence[Permission]) -> None:
        self._granted = frozenset(granted)
        self._by_domain: dict[str, list[tuple[Capability, int]]] = {}
        # A bit for each pattern, and those of the capabilities that name it.
        self._bits: dict[str, int] = {}
        self._wide: list[tuple[_Pattern, int]] = []
        self._known: dict[str, int] = {}
        self._left = _MAX_COMPARISONS
        for permission in granted:
            if not isinstance(permission, str):
                mask = sum({self._bit(entity) for entity in _entities(permission)})
                self._by_domain.setdefault(permission.domain, []).append((permission, mask))

    def covers(self, new: Permission) -> bool:
        if new in self._granted:
            return True
        if isinstance(new, str):
            return not self._granted.isdisjoint(_wider(new))
        possible = [
            mask
            for old, mask in self._by_domain.get(new.domain, ())
            if (old.access == "control" or new.access == "read") and _services_cover(old, new)
        ]
        for entity in _entities(new):
            covering = self._covering(entity) if possible else 0
            possible = [mask for mask in possible if mask & covering]
        return bool(possible)

    def _bit(self, entity: str) -> int:
        bit = self._bits.get(entity)
        if bit is None:
            bit = self._bits[entity] = 1 << len(self._bits)
            if "*" in entity:
                self._wide.append((_Pattern(entity), bit))
        return bit

    def _covering(self, entity: str) -> int:
        """The bits of the patterns that match every entity that this one matches."""
        found = self._known.get(entity)
        if found is None:
            found = self._bits.get(entity, 0)
            if len(self._wide) <= self._left:
                self._left -= len(self._wide)
                domain, _, name = entity.partition(".")
                for pattern, bit in self._wide:
                    if pattern.covers(domain, name):
                        found |= bit
            self._known[entity] = found
        return found


def _wider(name: str) -> Iterable[str]:
    """The permissions for more hosts than this one: of a.b.c `network`, *.b.c and *.c."""
    kind, _, host = name.partition(":")
    if kind == "network" and host:
        yield kind
        while host := host.partition(".")[2]:
            yield f"network:*.{host}"


def _services_cover(old: Capability, new: Capability) -> bool:
    if old.services is UNSET:
        return True
    return new.services is not UNSET and set(new.services) <= set(old.services)


def _entities(capability: Capability) -> tuple[str, ...]:
    return (f"{capability.domain}.*",) if capability.entities is UNSET else capability.entities


class _Pattern:
    """A pattern for entities. A `*` does not match the dot."""

    def __init__(self, text: str) -> None:
        domain, _, name = text.partition(".")
        self._domain, self._name = domain.split("*"), name.split("*")

    def covers(self, domain: str, name: str) -> bool:
        """Whether it matches every entity that the pattern `domain.name` matches."""
        # Most do not, and there may be many.
        return (
            name.startswith(self._name[0])
            and name.endswith(self._name[-1])
            and _part_covers(self._name, name)
            and _part_covers(self._domain, domain)
        )


def _part_covers(old: Sequence[str], new: str) -> bool:
    """`old` is what stands between its `*`. A `*` of the new pattern is one more letter, which
    only a `*` of the old one matches.
    """
    first, last = old[0], old[-1]
    if len(old) == 1:
        return first == new
    start, stop = len(first), len(new) - len(last)
    if stop < start or not new.startswith(first) or not new.endswith(last):
        return False
    for part in old[1:-1]:
        at = new.find(part, start, stop)
        if at < 0:
            return False
        start = at + len(part)
    return True


def name_of(permission: Permission) -> str:
    """Its name among the permissions of a version."""
    return permission if isinstance(permission, str) else f"{permission.access}:{permission.domain}"


def names_of(some: Iterable[Permission]) -> list[str]:
    """Their names, each once."""
    return list(dict.fromkeys(map(name_of, some)))


def in_words(
    permission: Permission, most: int | None = None, gettext: Callable[[str], str] | None = None
) -> str:
    """For people: `control locks (lock.front_*; only unlock)`. Lists are cut after `most`.
    `gettext` translates these sentences; domains then have their own name, without a plural.
    """
    if isinstance(permission, str):
        return permission.replace("network:", "network: ", 1)
    _ = gettext or str
    domain = _plural(permission.domain) if gettext is None else _words(permission.domain)
    sentence = _("control %(domain)s") if permission.access == "control" else _("read %(domain)s")
    words = sentence % {"domain": domain}
    narrowed = [] if permission.entities is UNSET else [listed(permission.entities, most)]
    if permission.services is not UNSET:
        narrowed.append(_("only %(services)s") % {"services": listed(permission.services, most)})
    return f"{words} ({'; '.join(narrowed)})" if narrowed else words


def listed(some: Sequence[str], most: int | None = None) -> str:
    if most is None or len(some) <= most:
        return ", ".join(some)
    return f"{', '.join(some[:most])} and {len(some) - most} more"


# Domains without a plural.
_UNCOUNTABLE = frozenset({"climate", "energy", "history", "media", "sun", "weather"})


def _plural(domain: str) -> str:
    """`media_player` as `media players`."""
    words = _words(domain)
    if words in _UNCOUNTABLE or words.endswith("s"):
        return words
    if words.endswith(("ch", "sh", "x")):
        return f"{words}es"
    if re.search(r"[^aeiou]y\Z", words):
        return f"{words[:-1]}ies"
    return f"{words}s"


def _words(domain: str) -> str:
    return domain.strip("_").replace("_", " ") or domain
