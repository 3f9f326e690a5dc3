"""Marks a data folder that is being restored."""

from pathlib import Path

from ..core.errors import CatalogMissing

MARK = ".restoring"


def require_whole(folder: Path) -> None:
    """Raises CatalogMissing if a restore was interrupted."""
    if (folder / MARK).exists():
        raise CatalogMissing(
            f"A restore into {folder} was interrupted. Run it again: it begins again."
        )
