"""Backups: making them, keeping one up to date, reading and restoring them."""

from .continuous import keep_copying
from .layout import ARCHIVE_SUFFIX, Manifest
from .making import Catalog, FolderBackup, Made, back_up_to_file
from .reading import Snapshot, check_backup, describe
from .restoring import restore_backup

__all__ = [
    "ARCHIVE_SUFFIX",
    "Catalog",
    "FolderBackup",
    "Made",
    "Manifest",
    "Snapshot",
    "back_up_to_file",
    "check_backup",
    "describe",
    "keep_copying",
    "restore_backup",
]
