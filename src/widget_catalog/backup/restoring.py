"""Restores a backup to a data folder. The database comes last, and only if everything is intact.

Until then a marker says that the folder is incomplete: nothing starts in it, and the next restore
starts over.
"""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from ..catalog.node.opening import RESTORING
from ..catalog.replica.copying import adopt_copy
from ..catalog.replica.records import FORMAT
from ..core.data_folder import DataFolder
from ..core.errors import BackupFailed
from ..core.progress import Bar, no_bar
from .layout import BUNDLES, DATABASE, packed_kind, sync
from .reading import Snapshot, read_backup

# Created by the file system at the root of a disk.
_NOT_OURS = {"lost+found"}
_READ_ONLY = 0o444


def restore_backup(
    source: Path,
    target: Path,
    name: str | None = None,
    bar: Bar = no_bar,
    *,
    despite_damage: bool = False,
) -> Snapshot:
    """Fill a new or empty folder; leaves it unchanged if the backup is damaged.

    `despite_damage`: damaged bundles are left out, and damaged rows stay in the database.
    """
    if target.resolve() in (source.resolve(), *source.resolve().parents) or (
        source.resolve() in target.resolve().parents
    ):
        raise BackupFailed(f"{target} and the backup {source} lie in each other.")
    with _faults_named(target):
        _require_empty(target)
        is_new = not target.exists()
        target.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            return _fill(source, target, name, bar, despite_damage=despite_damage)
        except BaseException:
            _clear(target)
            if is_new:
                target.rmdir()
            raise


def _fill(
    source: Path, target: Path, name: str | None, bar: Bar, *, despite_damage: bool
) -> Snapshot:
    _clear(target)
    (target / RESTORING).touch()
    sync(target)
    (target / BUNDLES).mkdir()
    draft = target / f"{DATABASE}.part"
    bundles: list[Path] = []

    def place(path: str) -> Path:
        file = _unpacked(target, path) or target / path
        file.parent.mkdir(exist_ok=True)
        if packed_kind(path) is None:
            bundles.append(file)
        return file

    restored = read_backup(source, name, draft, place, bar, despite_damage=despite_damage)
    _adopt_replica(target, restored)
    lost = {target / it for it in restored.lost}
    for path in lost:
        path.unlink(missing_ok=True)
    for path in [it for it in bundles if it not in lost]:
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


def _unpacked(target: Path, path: str) -> Path | None:
    """Where a part of the read model is kept until it is known to be usable."""
    folder = DataFolder(target)
    match packed_kind(path):
        case "mdb":
            return folder.replica / ".restored.mdb"
        case "index":
            return folder.search_index.with_suffix(".restored")
        case _:
            return None


def _adopt_replica(target: Path, restored: Snapshot) -> None:
    """Use the read model, if it is intact and of this release."""
    folder, found = DataFolder(target), restored.manifest.replica
    if found and found.format == FORMAT and not restored.replica_faults:
        for path in found.files:
            sync(_unpacked(target, path) or target)
        adopt_copy(folder.replica / ".restored.mdb", folder.replica, found.id)
        if found.index_file is not None:
            folder.search_index.with_suffix(".restored").rename(folder.search_index)
    else:
        for made in (folder.replica, folder.search_index.parent):
            shutil.rmtree(made, ignore_errors=True)


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
def _faults_named(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        where = error.filename or target
        raise BackupFailed(f"{where} cannot be used: {error.strerror}.") from error
