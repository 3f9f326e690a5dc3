"""Checks a data folder before it is opened, opens its database read-only, and removes a folder that
a failed command has created.

Separate from `node.py`, so that read-only commands do not import the read model.
"""

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from widget_contract.errors import CatalogError

from ...core.data_folder import DataFolder, FolderInUse, ServiceLock, sync
from ...core.db.engine import Snapshot, Store
from ...core.db.file_lock import WriterLock
from ...core.db.migrate import check_schema, is_new
from ...core.db.postgresql import postgresql_engine
from ...core.db.sqlite import sqlite_reader
from ...core.errors import (
    BundlesUnusable,
    CatalogMissing,
    DataDamaged,
    FolderUnusable,
    StoreUnavailable,
)
from ...core.files.cache import BundleCache
from ...core.files.contract import Bundles, Fetch, LocalFiles, Uploads
from ...core.files.local import LocalBundles, LocalUploads
from ...core.hooks import extension_point
from ...core.keys import KeyFile, Keys, SharedKeys
from ...core.settings import Backends, Settings

if TYPE_CHECKING:
    from ...core.keys import SecretBox

_FOLDER = Backends()
# Accessible to the owner only: the folder contains password hashes and email addresses.
_PRIVATE = 0o700

# What a service writes to, except the bundles, which are write-protected.
_WRITTEN = ("bundles", "uploads", "catalog.db*", "replica", "replica/*", "run", "run/*")

# In a folder that is being restored.
RESTORING = ".restoring"
# What a backup folder has, with one folder per snapshot: see `backup/layout.py`.
_SNAPSHOTS = "snapshots"


def open_to_read(path: Path, backends: Backends = _FOLDER) -> Store:
    """Only the database of a data folder, which must be of this release; nothing is changed."""
    if backends.database:
        store = Store(postgresql_engine(backends.database))
        check_schema(store)
        return store
    try:
        store = Store(sqlite_reader(DataFolder(path).database))
    except OSError as error:
        raise unusable(path, error) from None
    try:
        check_schema(store)
    except DataDamaged:
        raise
    except StoreUnavailable:
        if os.access(path, os.W_OK):
            raise
        raise FolderUnusable(
            f"The data folder {path} is read-only, and its database cannot be opened there: it was "
            "not closed. widget-catalog backup can copy it; restore that backup into another "
            "folder, and use this folder."
        ) from None
    return store


def require_no_loss(folder: DataFolder) -> None:
    """Raises CatalogMissing if the database was lost. Changes nothing."""
    if not has_database(folder.database):
        require_whole(folder.path)
        require_no_backup(folder.path)
        require_no_traces_of(folder, is_opened=False)


def bundles_in(folder: DataFolder, backends: Backends = _FOLDER) -> Bundles:
    if backends.bundles is None:
        return LocalBundles(folder.bundles)
    # Slow to load, so only imported if used.
    from ...core.files.s3 import S3Bundles
    from ...core.files.s3_client import Bucket

    return S3Bundles(Bucket(backends.bundles))


def uploads_in(folder: DataFolder, backends: Backends = _FOLDER) -> Uploads:
    if backends.bundles is None:
        return LocalUploads(folder.uploads)
    from ...core.files.s3 import S3Uploads
    from ...core.files.s3_client import Bucket

    return S3Uploads(Bucket(backends.bundles))


def files_of(
    folder: DataFolder, bundles: Bundles, backends: Backends
) -> tuple[LocalFiles, Fetch | None]:
    """The bundles as local files, and how to fetch those that are not local yet."""
    if backends.bundles is None:
        return LocalBundles(folder.bundles), None
    folder.bundle_cache.mkdir(exist_ok=True)
    cache = BundleCache(bundles, folder.bundle_cache, backends.bundle_cache_bytes)
    return cache, cache.fetch


def check_bundles(backends: Backends) -> None:
    """Raises BundlesUnusable, with the store's error, if bundles cannot be stored there."""
    if backends.bundles is None:
        return
    from ...core.files.s3_client import Bucket

    bucket = Bucket(backends.bundles)
    try:
        bucket.check_writable()
    except BundlesUnusable as error:
        raise BundlesUnusable(
            f"The bundles at {bucket.address()} cannot be used. {error.message}"
        ) from None


def make_folder(folder: DataFolder) -> None:
    """Create the folder and its subfolders, if they do not exist."""
    check_is_folder(folder.path)
    try:
        _make_durable(folder.path, mode=_PRIVATE)
        for needed in (folder.bundles, folder.uploads, folder.revision.parent):
            _make_durable(needed)
    except OSError as error:
        raise unusable(folder.path, error) from None
    check_writable(folder.path)


def _make_durable(path: Path, mode: int = 0o777) -> None:
    """Create a folder and its parents; all of them survive a power failure."""
    new = [it for it in (path, *path.absolute().parents) if not it.exists()]
    path.mkdir(parents=True, exist_ok=True, mode=mode)
    for made in new:
        sync(made.parent)


def open_keys(folder: DataFolder, store: Store, settings: Settings) -> Keys:
    if settings.secrets:
        return SharedKeys(settings.secrets, store.now_ms)
    return KeyFile(folder.keys, store.now_ms)


def open_secret_box(folder: DataFolder, settings: Settings) -> "SecretBox":
    """The encryption of authenticator secrets."""
    # Slow to load, so only imported if used.
    from ...core.keys import SecretBox, SharedSecretBox

    if settings.secrets:
        return SharedSecretBox(settings.secrets)
    return SecretBox(folder.second_factor_key)


def check_is_folder(path: Path) -> None:
    if path.is_file():
        raise FolderUnusable(f"{path} is a file. Pass a folder with --data.")


def unusable(path: Path, error: OSError) -> FolderUnusable:
    return FolderUnusable(f"The data folder {path} cannot be used: {error.strerror}.")


def check_writable(path: Path) -> None:
    """Raises FolderUnusable if the folder or a file in it cannot be written: a command that was
    run as root leaves some that are root's, and SQLite opens a database that it cannot write, and
    then gives its log the same mode.
    """
    if not os.access(path, os.W_OK | os.X_OK):
        raise FolderUnusable(f"The data folder {path} is not writable.")
    for file in (it for pattern in _WRITTEN for it in path.glob(pattern)):
        if not os.access(file, os.R_OK | os.W_OK) and file.exists():
            raise FolderUnusable(
                f"{file} belongs to {_owner_of(file)}, and this user cannot read and write it. "
                "Change its owner or its mode."
            )


def _owner_of(file: Path) -> str:
    try:
        return file.owner()
    except KeyError:
        return f"the user {file.stat().st_uid}"


def has_database(database: Path) -> bool:
    """An empty file is not one: SQLite would fill it as if it were new."""
    try:
        return database.stat().st_size > 0
    except OSError:
        return False


def require_whole(folder: Path) -> None:
    """Raises CatalogMissing if a restore was interrupted."""
    if (folder / RESTORING).exists():
        raise CatalogMissing(
            f"A restore into {folder} was interrupted. Run it again: it begins again."
        )


def require_no_backup(folder: Path) -> None:
    """Raises CatalogMissing if this is a backup folder, which has bundles, too."""
    try:
        names = [it.name for it in (folder / _SNAPSHOTS).iterdir()]
    except OSError:  # Usually there is none. Opening the folder reports what else is wrong with it.
        return
    if any(re.match(r"\d{6,}-", it) for it in names):
        raise CatalogMissing(
            f"{folder} is a backup folder, not a data folder. Restore it into a new folder: "
            f"widget-catalog restore {folder} --data NEW."
        )


def require_no_traces_of(folder: DataFolder, *, is_opened: bool) -> None:
    """Raises CatalogMissing if bundles, a log or a key show that there was a database.

    If it `is_opened`, SQLite has read the log: any remaining content was never committed, for
    example after a kill during the creation of the tables.
    """
    database, key = folder.database, folder.second_factor_key
    stored = sum(1 for _ in bundles_in(folder).list_stored())
    traces = [f"{stored:,} stored bundle{'s' if stored != 1 else ''}"] if stored else []
    others = [key] if is_opened else [database.with_name(f"{database.name}-wal"), key]
    traces += [it.name for it in others if it.exists() and it.stat().st_size]
    if traces:
        raise CatalogMissing(
            f"There is no catalog in {database}, but {' and '.join(traces)} in the same "
            "folder: the database is lost. Restore a backup into a new folder: widget-catalog "
            "restore BACKUP --data NEW. To begin with an empty catalog all the same: "
            "widget-catalog serve --new-database."
        )


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
def has_people(_connection: Snapshot) -> bool:
    return False


def _is_unused(folder: DataFolder) -> bool:
    # Slow to load, and rarely needed.
    from ..store.audit import list_entries
    from ..store.feed import latest_seq

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
    database = folder.database.name
    for path in sorted(folder.path.iterdir(), key=lambda it: it.name.startswith(database)):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
