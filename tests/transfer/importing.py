"""Imports in intermediate states: accepted, and partly written; and what was stored."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.widgets import ndjson
from widget_catalog.catalog.node.node import Node
from widget_catalog.catalog.reading import accepted_import
from widget_catalog.catalog.store.staging import importing
from widget_catalog.core import clock
from widget_catalog.transfer.import_bundles import FileImporter
from widget_catalog.transfer.import_catalog import ImportLines
from widget_catalog.transfer.import_checks import ImportErrors
from widget_catalog.transfer.ndjson import Rules
from widget_catalog.transfer.staged_import import Spool, Staging, Started

_MAX_BUNDLE_BYTES = 100_000


@contextmanager
def staged_import(
    node: Node, *lines: dict[str, Any], base_folder: Path | None = None, into_owned: bool = False
) -> Iterator[Staging]:
    """An import that was read, compared with the catalog and staged, and nothing more."""
    importer = FileImporter(
        node.store, node.bundles, base_folder or node.folder.path.parent, _MAX_BUNDLE_BYTES
    )
    content = ndjson(*lines).splitlines(keepends=True)
    reading = ImportLines(content, Rules(clock.now()), importer, lambda _: None)
    started = Started(importer, "w.ndjson", into_owned, lambda: None)
    with closing(Spool(node.store.run_folder)) as spool:
        for batch in reading.read():
            spool.add(batch)
        reading.errors.check()
        staging = Staging(started, spool)
        staging.stage(ImportErrors())
        yield staging


def interrupted_import(
    node: Node,
    *lines: dict[str, Any],
    base_folder: Path | None = None,
    into_owned: bool = False,
    batches: int = 0,
) -> None:
    """The state of an import whose process is killed after this many batches were written."""
    with importing(node.store) as other, pytest.MonkeyPatch.context() as patch:
        assert other is None
        with staged_import(node, *lines, base_folder=base_folder, into_owned=into_owned) as staging:
            staging.accept(texts_cleaned=0)
        patch.setattr(accepted_import, "SLICE_S", 1e-9)
        for _ in range(batches):
            assert accepted_import.write_some(node.store)


def kept_numbers(data: Path) -> tuple[int, int, int]:
    """The stored numbers of widgets and versions, and their downloads."""
    queries = (
        "SELECT count(*) FROM widgets",
        "SELECT count(*) FROM versions",
        "SELECT coalesce(sum(count), 0) FROM downloads",
    )
    with closing(sqlite3.connect(data / "catalog.db")) as database:
        widgets, versions, downloads = (database.execute(it).fetchone()[0] for it in queries)
    return widgets, versions, downloads
