"""The ways in which files are imported."""

import pytest

from widget_catalog.transfer import import_catalog


@pytest.fixture(params=["at once", "staged"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files are written immediately, large ones are staged first: the result must be the
    same.
    """
    if request.param == "staged":
        monkeypatch.setattr(import_catalog, "_MAX_AT_ONCE", 0)
