"""Restores a backup to a data folder. The database comes last, and only if everything is intact.

Until then a marker says that the folder is incomplete: nothing starts in it, and the next restore
starts over.
"""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from widget_contract.errors import CatalogError

from ..catalog.node.opening import RESTORING
from ..core.data_folder import sync
from ..core.db.migrate import SCHEMA
from ..core.errors import BackupFailed
from ..core.progress import Bar, no_bar
from .layout import BUNDLES, DATABASE, BackupManifest, is_database
from .reader import Snapshot, read_backup

# Created by the file system at the root of a disk.
_NOT_OURS = {"lost+found"}
_READ_ONLY = 0o444
# The read model of a smaller catalog is built by its first start, in a second or two.
MIN_WIDGETS = 5_000


def restore_backup(
    source: Path, target: Path, name: str | None = None, bar: Bar = no_bar
) -> Snapshot:
    """Fill a new or empty folder; leaves it unchanged if the backup is damaged."""
    if target.resolve() in (source.resolve(), *source.resolve().parents) or (
        source.resolve() in target.resolve().parents
    ):
        raise BackupFailed(f"{target} and the backup {source} lie in each other.")
    with _errors_named(target):
        _require_empty(target)
        is_new = not target.exists()
        target.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            return _fill(source, target, name, bar)
        except BaseException:
            _clear(target)
            if is_new:
                target.rmdir()
            raise


def build_replica(target: Path, manifest: BackupManifest, bar: Bar = no_bar) -> None:
    """Build the read model of a large restored catalog, so that its first start need not. If this
    fails or is interrupted, the start builds it, as after an upgrade of the database.
    """
    from ..catalog.node.node import make_index_ready, prepare_node

    if manifest.schema != SCHEMA or manifest.rows.get("widgets", 0) < MIN_WIDGETS:
        return
    with contextlib.suppress(CatalogError, OSError):
        node = prepare_node(target, bar=lambda total: bar("Building the read model", total))
        make_index_ready(node)
        node.store.close()


def _fill(source: Path, target: Path, name: str | None, bar: Bar) -> Snapshot:
    _clear(target)
    (target / RESTORING).touch()
    sync(target)
    (target / BUNDLES).mkdir()
    draft = target / f"{DATABASE}.part"
    bundles: list[Path] = []

    def place(path: str) -> Path:
        if is_database(path):
            return draft
        file = target / path
        file.parent.mkdir(exist_ok=True)
        bundles.append(file)
        return file

    restored = read_backup(source, name, place, bar)
    for path in bundles:
        path.chmod(_READ_ONLY)
        sync(path)
    for folder in {it.parent for it in bundles}:
        sync(folder)
    sync(target / BUNDLES)
    sync(draft)
    draft.rename(target / DATABASE)
    sync(target)
    (target / RESTORING).unlink()
    sync(target)
    return restored


def _require_empty(target: Path) -> None:
    if target.is_file():
        raise BackupFailed(f"{target} is a file. Name a new or empty folder with --data.")
    if not target.exists() or (target / RESTORING).exists():
        return
    if any(it.name not in _NOT_OURS for it in target.iterdir()):
        raise BackupFailed(
            f"{target} is not empty. Restore into a new folder, and start the service with it; "
            "nothing is ever restored over what is there."
        )


def _clear(target: Path) -> None:
    """Remove the files written by a restore, the marker last."""
    for path in sorted(target.iterdir(), key=lambda it: it.name == RESTORING):
        if path.name in _NOT_OURS:
            continue
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


@contextlib.contextmanager
def _errors_named(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        where = error.filename or target
        raise BackupFailed(f"{where} cannot be used: {error.strerror}.") from error
