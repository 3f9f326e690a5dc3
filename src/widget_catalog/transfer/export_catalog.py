"""Exports the catalog as NDJSON, ordered, with the same bytes for the same catalog."""

import contextlib
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from widget_contract.addresses import file_path
from widget_contract.errors import CatalogError

from ..catalog.store.downloads import get_counts
from ..catalog.store.rows import StoredWidget
from ..catalog.store.widgets import stream_widgets
from ..catalog.widgets import Version, Widget
from ..core.db.engine import Snapshot, Store
from ..core.errors import FolderUnusable
from ..core.files.contract import Bundles, Kind
from ..core.files.hashing import hash_file
from .export_line import FilesOf, encode_line

_BATCH = 500


def export_catalog(store: Store, files_of: FilesOf) -> Iterator[bytes]:
    """One line per widget, by scope and name, from one consistent snapshot."""
    with store.reading() as connection:
        yield from export_widgets(connection, stream_widgets(connection, _BATCH), files_of)


def export_widgets(
    connection: Snapshot, widgets: Iterable[StoredWidget], files_of: FilesOf
) -> Iterator[bytes]:
    """A line for each of these widgets, with its current count."""
    batch: list[StoredWidget] = []
    for stored in widgets:
        batch.append(stored)
        if len(batch) == _BATCH:
            yield from _lines(batch, get_counts(connection, [it.id for it in batch]), files_of)
            batch.clear()
    yield from _lines(batch, get_counts(connection, [it.id for it in batch]), files_of)


def linked_to(cdn_url: str) -> FilesOf:
    """Reference stored bundles by URL. Style sheets are left out."""

    def files_of(widget: Widget, version: Version) -> dict[str, str]:
        address = cdn_url + file_path(widget.scope, widget.name, version.number, "js")
        return {"bundleUrl": address}

    return files_of


def copied_to(folder: Path, bundles: Bundles) -> FilesOf:
    """Copy stored files next to the export, and reference them by path."""

    def copied(sha256_hash: str, kind: Kind) -> str:
        name = f"bundles/{sha256_hash}.{kind}"
        target = folder / name
        if not _is_whole(target, sha256_hash):
            with bundles.open(sha256_hash, kind) as source:
                _copy(source, target)
        return name

    def files_of(_widget: Widget, version: Version) -> dict[str, str]:
        files = {}
        if version.bundle_url is None:
            files["bundleFile"] = copied(version.sha256_hash, "js")
        if version.style is not None:
            files["cssFile"] = copied(version.style.sha256_hash, "css")
        return files

    return files_of


def _is_whole(target: Path, sha256_hash: str) -> bool:
    """Whether an intact copy from an earlier export exists."""
    try:
        return hash_file(target).sha256_hash == sha256_hash
    except CatalogError:
        return False


def _copy(source: BinaryIO, target: Path) -> None:
    partial = target.with_suffix(".part")
    try:
        target.parent.mkdir(exist_ok=True)
        with partial.open("wb") as copy:
            shutil.copyfileobj(source, copy)
        partial.replace(target)
    except OSError as error:
        raise FolderUnusable(f"{target} cannot be written: {error.strerror}.") from None
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)


def _lines(batch: list[StoredWidget], counts: dict[int, int], files_of: FilesOf) -> Iterator[bytes]:
    for stored in batch:
        yield encode_line(stored.widget, counts.get(stored.id, 0), files_of)
