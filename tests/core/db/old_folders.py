"""Data folders of earlier releases, in tests/store/fixtures."""

import tarfile
from pathlib import Path

FIXTURES = Path(__file__).parent / "fixtures"


def open_fixture(name: str, beside: Path) -> Path:
    folder = beside / name
    with tarfile.open(FIXTURES / f"{name}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder
