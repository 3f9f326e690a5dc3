"""The counts of a folder, without a node."""

from pathlib import Path

import pytest

from widget_catalog.catalog.replica.revision import Counts


@pytest.fixture
def counts(tmp_path: Path) -> Counts:
    return Counts(tmp_path / "counts")
