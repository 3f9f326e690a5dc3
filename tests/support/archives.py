"""Tar archives that tests unpack."""

import tarfile
from pathlib import Path
from typing import Any

# Python 3.11.2, which Debian 12 has, cannot filter what it extracts.
_FILTER: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}


def extract_all(archive: tarfile.TarFile, folder: Path) -> None:
    archive.extractall(folder, **_FILTER)
