"""Removes a data folder that a command has created, if the command fails."""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ...core.data_folder import DataFolder
from ...core.hooks import extension_point
from ...core.settings import Settings

if TYPE_CHECKING:
    from ...core.db.engine import Snapshot


@contextlib.contextmanager
def undone_on_failure(settings: Settings) -> Iterator[None]:
    """If the block fails, restore a folder that was empty or missing before.

    Not if another process has used it meanwhile. A killed process leaves an empty catalog.
    """
    path = settings.data
    missing = [it for it in (path, *path.parents) if not it.exists()]
    is_new = bool(missing) or (path.is_dir() and not any(path.iterdir()))
    try:
        yield
    except BaseException:
        if is_new and not settings.database and path.is_dir():
            _undo(DataFolder(path), missing)
        raise


def _undo(folder: DataFolder, missing: list[Path]) -> None:
    from widget_contract.errors import CatalogError

    from ...core.db.file_lock import WriterLock

    # The reason of the failure is reported, not an error here.
    with contextlib.suppress(OSError, CatalogError):
        # A process that waits for the lock then finds that its database is gone, and reports that.
        with WriterLock(folder.writer_lock).held():
            if not _is_unused(folder):
                return
            _empty(folder)
        for made in missing:
            made.rmdir()


@extension_point
def has_people(_connection: "Snapshot") -> bool:
    """Whether there is an account."""
    return False


def _is_unused(folder: DataFolder) -> bool:
    from ...core.db.engine import Store
    from ...core.db.migrate import is_new
    from ...core.db.sqlite import sqlite_reader
    from ...core.service_lock import FolderInUse, ServiceLock
    from ..store.audit import list_entries
    from ..store.feed import latest_seq
    from .opening import open_to_read

    try:
        ServiceLock(folder.path, folder.service_lock).check()
    except FolderInUse:
        return False
    if not folder.database.exists():
        return True
    with contextlib.closing(Store(sqlite_reader(folder.database))) as store:
        if is_new(store):
            return True
    with contextlib.closing(open_to_read(folder.path)) as store, store.reading() as connection:
        entries, _ = list_entries(connection, None, None, page=1, limit=1)
        return not (entries or has_people(connection) or latest_seq(connection))


def _empty(folder: DataFolder) -> None:
    """The database last: a folder with other files but no database looks like a loss."""
    names = sorted(folder.path.iterdir(), key=lambda it: it.name.startswith(folder.database.name))
    for path in names:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
