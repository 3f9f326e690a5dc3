"""Where files to import lie."""

from pathlib import Path

import pytest


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    """The folder that the imported file lies in."""
    folder = tmp_path / "files"
    folder.mkdir()
    return folder
