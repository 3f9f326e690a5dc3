"""Backup: consistent copies of a running catalog, and how to restore them."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ..core.commands import DATA, Command
from ..core.features import Feature
from .commands import backup, restore

if TYPE_CHECKING:
    from ..core.settings import Settings


def _facts(settings: "Settings") -> Sequence[tuple[str, str]]:
    from .layout import LAST_BACKUP

    try:
        at = datetime.fromisoformat((settings.data / LAST_BACKUP).read_text())
    except (OSError, ValueError):
        return (("Last backup", "none recorded"),)
    return (("Last backup", f"{at:%-d %B %Y, %H:%M} UTC"),)


FEATURE = Feature(
    name="backup",
    facts=_facts,
    texts={
        "storage_hints": "To create a backup: widget-catalog backup. If nodes share a database, "
        "use its own backup tools."
    },
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
