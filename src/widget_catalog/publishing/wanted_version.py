"""The content of a publish request: parses its body, and computes the resulting widget."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

import msgspec

from widget_contract.errors import InvalidManifest
from widget_contract.manifests import Manifest, declared, parse_manifest
from widget_contract.names import Scope

from ..catalog.widgets import Style, Version, Widget

_SHA256 = re.compile(r"[0-9a-f]{64}\Z")


class FileSpec(NamedTuple):
    """A file to be uploaded, as announced."""

    size_bytes: int
    sha256_hash: str


class Wanted(NamedTuple):
    """A valid request. Its own fields take precedence over those of the manifest."""

    scope: Scope
    manifest: Manifest
    bundle: FileSpec
    style: FileSpec | None

    @property
    def size_bytes(self) -> int:
        """The size of its files and its manifest."""
        style = 0 if self.style is None else self.style.size_bytes
        return self.bundle.size_bytes + style + len(self.manifest.text.encode())

    def added_to(self, widget: Widget | None, at: datetime) -> Widget:
        """The widget with this version; without one, a new widget."""
        manifest = self.manifest
        version = _version(self, at if widget is None else widget.next_instant(at))
        if widget is None:
            return Widget(
                scope=self.scope,
                name=manifest.name,
                display_name=manifest.display_name,
                description=manifest.description,
                icon=manifest.icon,
                is_official=False,
                created_at=at,
            ).with_versions([version])
        changed = widget.with_versions([*widget.versions, version])
        if changed.versions[0] is not version:
            return changed
        # The newest version determines the widget's own texts.
        return msgspec.structs.replace(
            changed,
            display_name=manifest.display_name,
            description=manifest.description,
            icon=manifest.icon,
        )


def read_wanted(body: Mapping[str, object], max_bundle_bytes: int) -> Wanted:
    """The content of the request, or InvalidManifest with all errors."""
    faults: list[str] = []
    bundle = _file(body, "bundleSize", "sha256Hash", max_bundle_bytes, faults)
    style = None
    if body.get("cssSize") is not None or body.get("cssSha256Hash") is not None:
        style = _file(body, "cssSize", "cssSha256Hash", max_bundle_bytes, faults)
    text = body.get("manifestJson")
    if not isinstance(text, str):
        faults.append("manifestJson: must be the manifest as a text.")
        text = "{}"  # So that the other errors of the request are reported, too.
    manifest = None
    try:
        manifest = parse_manifest(text, fields_of(body))
    except InvalidManifest as error:
        faults += error.faults
    if faults or manifest is None or manifest.scope is None or bundle is None:
        raise InvalidManifest(faults)
    return Wanted(manifest.scope, manifest, bundle, style)


def fields_of(body: Mapping[str, object]) -> dict[str, object]:
    """The fields of a request itself, without the manifest it contains."""
    keys = "scope name version displayName description icon minSize maxSize sdkVersion".split()
    return {key: body[key] for key in keys if body.get(key) is not None}


def _file(
    body: Mapping[str, object], size_key: str, hash_key: str, max_bytes: int, faults: list[str]
) -> FileSpec | None:
    size, sha256_hash = body.get(size_key), body.get(hash_key)
    if type(size) is not int or size < 0:
        faults.append(f"{size_key}: must be the size of the file in bytes.")
    elif size == 0:
        faults.append(f"{size_key}: the file is empty.")
    elif size > max_bytes:
        faults.append(f"{size_key}: the file has {size:,} bytes; at most {max_bytes:,} are taken.")
    if not isinstance(sha256_hash, str) or not _SHA256.match(sha256_hash):
        faults.append(f"{hash_key}: must be the SHA-256 of the file, 64 hexadecimal digits.")
        return None
    return FileSpec(size, sha256_hash) if type(size) is int else None


def _version(wanted: Wanted, published_at: datetime) -> Version:
    manifest, style = wanted.manifest, wanted.style
    return Version(
        version=manifest.version,
        bundle_url=None,
        bundle_size=wanted.bundle.size_bytes,
        sha256_hash=wanted.bundle.sha256_hash,
        published_at=published_at,
        **declared(manifest),
        style=None if style is None else Style(style.size_bytes, style.sha256_hash),
        manifest=manifest.text,
    )
