"""A data folder before it is opened: what must be true of it, and its database to read alone.

Apart from `wiring.py`, so that a command that only reads loads nothing of the read model.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from .actions.backup.mark import require_whole
from .actions.lost_database import has_database, require_no_backup, require_no_traces
from .bundles.local import LocalBundles
from .data_folder import DataFolder
from .domain.errors import DataDamaged, FolderUnusable, StoreUnavailable
from .settings import Backends, Settings
from .store.engine import Store, sqlite_reader
from .store.keys import KeyFile, Keys, SharedKeys
from .store.migrate import check_schema
from .store.postgresql import postgresql_engine

if TYPE_CHECKING:
    from .actions.second_factor.secret_box import SecretBox

_FOLDER = Backends()


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
    """Raises CatalogMissing where there is no database but traces of one. Changes nothing."""
    if not has_database(folder.database):
        require_whole(folder.path)
        require_no_backup(folder.path)
        require_no_traces_of(folder)


def bundles_in(folder: DataFolder) -> LocalBundles:
    return LocalBundles(folder.bundles)


def open_keys(folder: DataFolder, store: Store, settings: Settings) -> Keys:
    """What this catalog signs with."""
    if settings.secrets:
        return SharedKeys(settings.secrets, store.now_ms)
    return KeyFile(folder.keys, store.now_ms)


def open_secret_box(folder: DataFolder, settings: Settings) -> "SecretBox":
    """What the secrets of authenticator apps are sealed in."""
    # Loaded only where it is used, as it takes a while.
    from .actions.second_factor.secret_box import SecretBox, SharedSecretBox

    if settings.secrets:
        return SharedSecretBox(settings.secrets)
    return SecretBox(folder.second_factor_key)


def require_no_traces_of(folder: DataFolder) -> None:
    require_no_traces(folder.database, bundles_in(folder), folder.second_factor_key)


def check_is_folder(path: Path) -> None:
    if path.is_file():
        raise FolderUnusable(f"{path} is a file. Name a folder with --data.")


def unusable(path: Path, error: OSError) -> FolderUnusable:
    return FolderUnusable(f"The data folder {path} cannot be used: {error.strerror}.")


def check_writable(path: Path) -> None:
    if not os.access(path, os.W_OK | os.X_OK):
        raise FolderUnusable(f"The data folder {path} is not writable.")
