"""The differences between a new version and the last published one."""

import hashlib
from typing import Any, NamedTuple

import msgspec

from widget_contract.capabilities import Permission, names_of, requested
from widget_contract.manifests import DETAIL_FIELDS, Declared
from widget_contract.semver import InvalidVersion, SemVer
from widget_contract.wire import Size

from .shapes import UNKNOWN_SIZE, VersionEntry
from .widget_folder import LocalWidget

# Release notes always differ; the others are shown separately.
_SHOWN_APART = ("release_notes", "sdk_version", "permissions")


class Change(NamedTuple):
    """One field, by its JSON name."""

    field: str
    before: Any
    after: Any


def changes(local: LocalWidget, last: VersionEntry) -> list[Change]:
    """Every field that differs, except permissions: see `Plan.permission_changes`."""
    manifest = local.manifest
    pairs = [
        Change("sha256Hash", last.sha256_hash, local.bundle.sha256_hash),
        Change("bundleSize", last.bundle_size, local.bundle.size_bytes),
        Change("sdkVersion", last.sdk_version, manifest.sdk_version),
    ]
    for field in msgspec.structs.fields(Declared):
        # Entries have no details.
        if field.name not in _SHOWN_APART and field.name not in DETAIL_FIELDS:
            before, after = getattr(last, field.name), getattr(manifest, field.name)
            pairs.append(Change(field.encode_name, _shown(before), _shown(after)))
    return [it for it in pairs if it.before != it.after]


def style_change(local: LocalWidget, last_style: bytes | None) -> Change | None:
    """The change of the style sheet by its hash, if any; None means no style sheet."""
    before = None if last_style is None else hashlib.sha256(last_style).hexdigest()
    after = local.style.sha256_hash if local.style else None
    return None if before == after else Change("cssSha256Hash", before, after)


def requested_by(local: LocalWidget) -> tuple[Permission, ...]:
    return requested(local.manifest.permissions, local.manifest.text)


def differing_fields(
    local: LocalWidget, published: VersionEntry, wanted: tuple[Permission, ...] | None
) -> list[str]:
    """The names of all fields that differ, including permissions. `wanted` are those of the
    published version in full, if known."""
    fields = [it.field for it in changes(local, published)]
    own = requested_by(local)
    is_same = set(names_of(own)) == set(published.permissions)
    if not is_same or (wanted is not None and set(own) != set(wanted)):
        fields.append("permissions")
    return fields


def find_version(versions: tuple[VersionEntry, ...], wanted: SemVer) -> VersionEntry | None:
    """The published version with this number; build metadata is ignored."""
    for entry in versions:
        try:
            if SemVer.parse(entry.version) == wanted:
                return entry
        except InvalidVersion:
            continue
    return None


def is_step_back(wanted: SemVer, last: VersionEntry) -> bool:
    try:
        return wanted < SemVer.parse(last.version)
    except InvalidVersion:
        return False


def _shown(value: object) -> object:
    if isinstance(value, Size):
        return None if value == UNKNOWN_SIZE else f"{value.w} x {value.h}"
    return None if value == "" else value
