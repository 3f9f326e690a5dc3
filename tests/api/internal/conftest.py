"""A village for every test, and one for a whole module whose tests change nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from api.internal.two_factor import House
from support.passwords import quick_passwords
from support.site import InProcessSite
from support.village import BuiltVillage, MovableClock, Village, build_village


@pytest.fixture(scope="session")
def built_village(tmp_path_factory: pytest.TempPathFactory) -> BuiltVillage:
    with quick_passwords():
        return build_village(tmp_path_factory.mktemp("village") / "data")


@pytest.fixture
def village(built_village: BuiltVillage, tmp_path: Path) -> Iterator[Village]:
    with Village(built_village, tmp_path / "data") as made:
        yield made


@pytest.fixture(scope="module")
def quiet_village(
    built_village: BuiltVillage, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Village]:
    """Read-only."""
    with Village(built_village, tmp_path_factory.mktemp("quiet") / "data") as made:
        yield made


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    clock = MovableClock()
    with InProcessSite(tmp_path / "data", clock) as site:
        yield House(site, clock)
