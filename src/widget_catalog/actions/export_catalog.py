"""Export: the whole catalog as NDJSON, ordered, the same bytes for the same catalog."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from ..bundles.local import LocalBundles
from ..domain.errors import BundleNotFound, FolderUnusable
from ..domain.widgets import Version, Widget
from ..store.downloads import get_counts
from ..store.engine import Store
from ..store.rows import StoredWidget
from ..store.widgets import stream_widgets
from .ndjson import BundleOf, encode_line

_BATCH = 500


def export_catalog(store: Store, bundle_of: BundleOf) -> Iterator[bytes]:
    """One line a widget, by scope and name, all from one moment."""
    with store.reading() as connection:
        batch: list[StoredWidget] = []
        for stored in stream_widgets(connection, _BATCH):
            batch.append(stored)
            if len(batch) == _BATCH:
                yield from _lines(batch, get_counts(connection, [it.id for it in batch]), bundle_of)
                batch.clear()
        yield from _lines(batch, get_counts(connection, [it.id for it in batch]), bundle_of)


def linked_to(cdn_url: str) -> BundleOf:
    """Name a stored bundle by the address it is served at."""

    def bundle_of(widget: Widget, version: Version) -> tuple[str, str]:
        address = f"{cdn_url}/@{widget.scope}/{widget.name}/{version.number}/index.js"
        return ("bundleUrl", address)

    return bundle_of


def copied_to(folder: Path, bundles: LocalBundles) -> BundleOf:
    """Copy a stored bundle beside the export, and name it by its place there."""

    def bundle_of(_widget: Widget, version: Version) -> tuple[str, str]:
        name = f"bundles/{version.sha256_hash}.js"
        target = folder / name
        if not target.exists():
            _copy(bundles.path_of(version.sha256_hash), target)
        return ("bundleFile", name)

    return bundle_of


def _copy(source: Path, target: Path) -> None:
    if not source.exists():
        raise BundleNotFound(f"The stored bundle {source} is missing; doctor tells whose it is.")
    partial = target.with_suffix(".part")
    try:
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(source, partial)
        partial.replace(target)
    except OSError as error:
        raise FolderUnusable(f"{target} cannot be written: {error.strerror}.") from None


def _lines(
    batch: list[StoredWidget], counts: dict[int, int], bundle_of: BundleOf
) -> Iterator[bytes]:
    for stored in batch:
        yield encode_line(stored.widget, counts.get(stored.id, 0), bundle_of)
