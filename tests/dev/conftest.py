from pathlib import Path

import pytest

from dev.dev_project import DevProject


@pytest.fixture
def project(tmp_path: Path) -> DevProject:
    return DevProject(tmp_path / "project with a space")
