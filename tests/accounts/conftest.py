"""A site whose clock can be moved, for people with a second factor."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from accounts.second_factor.two_factor import House
from support.site import InProcessSite
from support.site_with_people import MovableClock


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    clock = MovableClock()
    with InProcessSite(tmp_path / "data", clock) as site:
        yield House(site, clock)
