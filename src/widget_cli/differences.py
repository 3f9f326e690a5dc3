"""What a version about to be published changes against the one published last."""

import hashlib
from typing import Any, NamedTuple

from widget_contract.semver import InvalidVersion, SemVer
from widget_contract.wire import Size

from .shapes import VersionEntry
from .widget_folder import LocalWidget


class Change(NamedTuple):
    """One field, by its name on the wire."""

    field: str
    before: Any
    after: Any


def changes(local: LocalWidget, last: VersionEntry) -> list[Change]:
    """Every field that differs, permissions apart: those are `new_permissions` and `dropped_…`."""
    manifest = local.manifest
    pairs = [
        Change("sha256Hash", last.sha256_hash, local.bundle.sha256_hash),
        Change("bundleSize", last.bundle_size, local.bundle.size_bytes),
        Change("sdkVersion", last.sdk_version, manifest.sdk_version),
        Change("displayName", last.display_name, manifest.display_name),
        Change("description", last.description, manifest.description),
        Change("icon", last.icon, manifest.icon),
        Change("minSize", _cells(last.min_size), _cells(manifest.min_size)),
        Change("maxSize", _cells(last.max_size), _cells(manifest.max_size)),
        Change("license", last.license, manifest.license),
        Change("configVersion", last.config_version, manifest.config_version),
    ]
    return [it for it in pairs if it.before != it.after]


def style_change(local: LocalWidget, last_style: bytes | None) -> Change | None:
    """Whether the style sheet is another one, by its hash; None is none."""
    before = None if last_style is None else hashlib.sha256(last_style).hexdigest()
    after = local.style.sha256_hash if local.style else None
    return None if before == after else Change("cssSha256Hash", before, after)


def new_permissions(local: LocalWidget, last: VersionEntry | None) -> list[str]:
    before = last.permissions if last else ()
    return [it for it in local.manifest.permissions if it not in before]


def dropped_permissions(local: LocalWidget, last: VersionEntry | None) -> list[str]:
    return [it for it in (last.permissions if last else ()) if it not in local.manifest.permissions]


def differing_fields(local: LocalWidget, published: VersionEntry) -> list[str]:
    """The names of all that differs, permissions too."""
    fields = [it.field for it in changes(local, published)]
    if set(local.manifest.permissions) != set(published.permissions):
        fields.append("permissions")
    return fields


def find_version(versions: tuple[VersionEntry, ...], wanted: SemVer) -> VersionEntry | None:
    """The published version of this number; build metadata makes no other one of it."""
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


def _cells(size: Size | None) -> str | None:
    return None if size is None else f"{size.w} x {size.h}"
