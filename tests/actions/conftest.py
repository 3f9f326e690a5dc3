"""The folder of files to import, and the ways in which they are imported."""

from pathlib import Path

import pytest

from widget_catalog.transfer import import_catalog


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    """The folder of the imported file."""
    folder = tmp_path / "files"
    folder.mkdir()
    return folder


@pytest.fixture(params=["at once", "staged"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files are written immediately, large ones are staged first: the result must be the
    same.
    """
    if request.param == "staged":
        monkeypatch.setattr(import_catalog, "_MAX_AT_ONCE", 0)
