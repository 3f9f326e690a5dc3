"""Data folders of earlier releases, in `fixtures`."""

import tarfile
from datetime import UTC, datetime
from pathlib import Path

from support.archives import extract_all

FIXTURES = Path(__file__).parent / "fixtures"
MADE_AT = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
STYLES = b":host { display: block }\n"


def open_fixture(name: str, base_folder: Path) -> Path:
    folder = base_folder / name
    with tarfile.open(FIXTURES / f"{name}.tar.xz") as archive:
        extract_all(archive, folder)
    return folder
