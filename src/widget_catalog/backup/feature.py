"""Backup: consistent copies of a running catalog, and how to restore them."""

from ..core.commands import DATA, Command
from ..core.features import Feature
from .commands import backup, restore

FEATURE = Feature(
    name="backup",
    commands=(
        Command(
            backup,
            DATA,
            (
                "backup /mnt/backup/catalog",
                "backup /mnt/backup/catalog --every 30s",
                "backup catalog-2026-06-01.tar.zst",
            ),
        ),
        Command(
            restore,
            DATA,
            ("restore /mnt/backup/catalog --data restored", "restore /mnt/backup/catalog --check"),
        ),
    ),
)
