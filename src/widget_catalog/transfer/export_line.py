"""A widget as one line of NDJSON: what export writes, and import reads."""

from collections.abc import Callable
from typing import Any

import msgspec

from widget_contract.manifests import declared_json

from ..catalog.widgets import AttachedFile, Version, VersionFile, Widget
from ..core.clock import iso

FilesOf = Callable[[Widget, Version], dict[str, Any]]
"""How the files of a version that are stored here are named in a line: keys and values."""

_encode = msgspec.json.Encoder().encode


def encode_line(widget: Widget, download_count: int, files_of: FilesOf) -> bytes:
    """The line of this widget, with all keys, in the documented order."""
    line = {
        "scope": str(widget.scope),
        "name": str(widget.name),
        "displayName": widget.display_name,
        "description": widget.description,
        "icon": widget.icon,
        "isOfficial": widget.is_official,
        "listed": widget.is_listed,
        "downloadCount": download_count,
        "createdAt": iso(widget.created_at),
        "versions": [_version_line(widget, version, files_of) for version in widget.versions],
    }
    return _encode(line) + b"\n"


def name_files(version: Version, name: Callable[[VersionFile], str]) -> dict[str, Any]:
    """The files of a version that are stored here, in a line; `name` gives each its name."""
    line: dict[str, Any] = {}
    for it in version.stored_files[: -len(version.attached) or None]:
        line["cssFile" if it.kind == "css" else "bundleFile"] = name(it)
    if version.attached:
        line["files"] = [_attached_line(it, name) for it in version.attached]
    return line


def _attached_line(it: AttachedFile, name: Callable[[VersionFile], str]) -> dict[str, Any]:
    file = VersionFile(it.sha256_hash, it.kind, it.size_bytes)
    line: dict[str, Any] = {"path": it.path, "file": name(file)}
    if it.width is not None:
        line |= {"width": it.width, "height": it.height}
    return line


def _version_line(widget: Widget, version: Version, files_of: FilesOf) -> dict[str, Any]:
    files = files_of(widget, version)
    beside: dict[str, Any] = {key: files.pop(key) for key in ("cssFile", "files") if key in files}
    line = {
        "version": version.number,
        **({"bundleUrl": version.bundle_url} if version.bundle_url is not None else files),
        "bundleSize": version.bundle_size,
        "sha256Hash": version.sha256_hash,
        "publishedAt": iso(version.published_at),
        "yanked": version.is_withdrawn,
        "yankedReason": version.withdrawn_reason,
        "deprecationMessage": version.deprecation_message,
        **declared_json(version),
    }
    line |= beside
    if version.manifest is not None:
        line["manifest"] = version.manifest
    if version.revocation is not None:
        line["revoked"] = {
            "reason": version.revocation.reason,
            "at": iso(version.revocation.revoked_at),
            "yanked": version.is_yanked,
            "yankedReason": version.yanked_reason,
        }
    return line
