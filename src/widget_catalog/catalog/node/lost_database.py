"""Detects a lost database, so that the remains of a catalog are not mistaken for a new one."""

import re
from pathlib import Path

from ...core.errors import CatalogMissing
from ...core.files.contract import Bundles

# In a folder that is being restored.
RESTORING = ".restoring"
# What a backup folder has, with one folder per snapshot: see `backup/layout.py`.
_SNAPSHOTS = "snapshots"


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


def require_no_traces(
    database: Path, bundles: Bundles, second_factor_key: Path, *, is_opened: bool
) -> None:
    """Raises CatalogMissing if bundles, a log or a key show that there was a database.

    If it `is_opened`, SQLite has read the log: any remaining content was never committed, for
    example after a kill during the creation of the tables.
    """
    stored = sum(1 for _ in bundles.list_stored())
    traces = [f"{stored:,} stored bundle{'s' if stored != 1 else ''}"] if stored else []
    log = database.with_name(f"{database.name}-wal")
    others = (second_factor_key,) if is_opened else (log, second_factor_key)
    traces += [it.name for it in others if it.exists() and it.stat().st_size]
    if traces:
        raise CatalogMissing(
            f"There is no catalog in {database}, but {' and '.join(traces)} in the same "
            "folder: the database is lost. Restore a backup into a new folder: widget-catalog "
            "restore BACKUP --data NEW. To begin with an empty catalog all the same: "
            "widget-catalog serve --new-database."
        )
