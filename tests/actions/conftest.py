"""Where files to import lie, and in which ways they are imported."""

from pathlib import Path

import pytest

from widget_catalog.actions import import_catalog


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    """The folder that the imported file lies in."""
    folder = tmp_path / "files"
    folder.mkdir()
    return folder


@pytest.fixture(params=["at once", "staged"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files are written at once, large ones are staged first: it must make no difference."""
    if request.param == "staged":
        monkeypatch.setattr(import_catalog, "_MOST_AT_ONCE", 0)
