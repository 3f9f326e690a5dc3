"""Exports the catalog as NDJSON, ordered, with the same bytes for the same catalog: one line per
widget, which import reads.
"""

import contextlib
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from widget_contract.errors import CatalogError
from widget_contract.manifests import declared_json
from widget_contract.version_files import file_path

from ..catalog.model.widgets import AttachedFile, Version, VersionFile, Widget
from ..catalog.store.downloads import get_counts
from ..catalog.store.widgets import stream_widgets
from ..core.clock import iso
from ..core.db.engine import Store
from ..core.errors import FolderUnusable
from ..core.files.contract import Bundles
from ..core.files.hashing import hash_file
from ..core.files.verified_bundles import copy_verified

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
    for file in version.stored_files[: -len(version.attached) or None]:
        line["cssFile" if file.kind == "css" else "bundleFile"] = name(file)
    if version.attached:
        line["files"] = [_attached_line(it, name) for it in version.attached]
    return line


def _attached_line(attached: AttachedFile, name: Callable[[VersionFile], str]) -> dict[str, Any]:
    file = VersionFile(attached.sha256_hash, attached.kind, attached.size_bytes)
    line: dict[str, Any] = {"path": attached.path, "file": name(file)}
    if attached.width is not None:
        line |= {"width": attached.width, "height": attached.height}
    return line


def _version_line(widget: Widget, version: Version, files_of: FilesOf) -> dict[str, Any]:
    files = files_of(widget, version)
    file_keys: dict[str, Any] = {
        key: files.pop(key) for key in ("cssFile", "files") if key in files
    }
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
    line |= file_keys
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


_BATCH = 500


def export_catalog(store: Store, named: FilesOf) -> Iterator[bytes]:
    """One line per widget, by scope and name, from one consistent snapshot."""
    with store.reading() as connection:
        rest = stream_widgets(connection, _BATCH)
        while batch := list(itertools.islice(rest, _BATCH)):
            counts = get_counts(connection, [it.id for it in batch])
            for stored in batch:
                yield encode_line(stored.widget, counts.get(stored.id, 0), named)


def linked_to(cdn_url: str) -> FilesOf:
    """Reference stored bundles by URL. All other files are left out."""

    def linked(widget: Widget, version: Version) -> dict[str, Any]:
        return {"bundleUrl": cdn_url + file_path(widget.scope, widget.name, version.number)}

    return linked


def copied_to(folder: Path, bundles: Bundles) -> FilesOf:
    """Copy stored files next to the export, and reference them by path."""

    def copied(_widget: Widget, version: Version) -> dict[str, Any]:
        for file in version.stored_files:
            if not _is_whole(folder / file.name, file.sha256_hash):
                _copy(bundles, file, folder / file.name)
        return name_files(version, lambda it: it.name)

    return copied


def _is_whole(target: Path, sha256_hash: str) -> bool:
    """Whether an intact copy from an earlier export exists."""
    try:
        return hash_file(target).sha256_hash == sha256_hash
    except CatalogError:
        return False


def _copy(bundles: Bundles, file: VersionFile, target: Path) -> None:
    try:
        target.parent.mkdir(exist_ok=True)
        with replacing(target) as copy:
            copy_verified(bundles, file.sha256_hash, file.kind, file.size_bytes, copy)
    except OSError as error:
        raise FolderUnusable(f"{target} cannot be written: {error.strerror}.") from None


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[BinaryIO]:
    """A file that replaces the target when it is complete."""
    partial = target.with_name(f".{target.name}.part")
    try:
        with partial.open("wb") as file:
            yield file
        partial.replace(target)
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
