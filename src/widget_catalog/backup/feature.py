"""Backup: consistent copies of a running catalog, and how to restore them."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ..core import clock
from ..core.commands import DATA, Command
from ..core.data_folder import DataFolder
from ..core.features import Feature
from .commands import backup, restore

if TYPE_CHECKING:
    from ..core.http.metrics import Reading
    from ..core.settings import Settings


def _facts(settings: "Settings") -> Sequence[tuple[str, str]]:
    if settings.database:
        return (("Backup", "with the tools of PostgreSQL"),)
    at = _last_backup(settings.data)
    shown = "none recorded; make one with widget-catalog backup"
    return (("Last backup", shown if at is None else f"{at:%-d %B %Y, %H:%M} UTC"),)


def _readings(folder: DataFolder) -> "Sequence[Reading]":
    from ..core.http.metrics import Reading

    def age() -> dict[str, float]:
        """Empty if there was none."""
        at = _last_backup(folder.path)
        return {} if at is None else {"": (clock.now() - at).total_seconds()}

    return (Reading("backup_age_seconds", "Time since the last backup.", age),)


def _last_backup(data: Path) -> datetime | None:
    from .layout import LAST_BACKUP

    try:
        return datetime.fromisoformat((data / LAST_BACKUP).read_text())
    except (OSError, ValueError):
        return None


FEATURE = Feature(
    name="backup",
    facts=_facts,
    readings=_readings,
    commands=(
        Command(
            backup,
            DATA,
            (
                "backup /mnt/backup/catalog",
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
