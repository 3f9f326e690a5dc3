"""Sites in this process: with the demo catalog, with open registration, with a village of people.

`conftest.py` loads these fixtures for all tests.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.demo import import_demo
from support.passwords import quick_passwords
from support.site import InProcessSite
from support.village import BuiltVillage, MovableClock, Village, build_village


@pytest.fixture(scope="module")
def demo_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessSite]:
    with InProcessSite(tmp_path_factory.mktemp("demo") / "data") as site:
        import_demo(site.node)
        yield site


@pytest.fixture(scope="module")
def open_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessSite]:
    folder = tmp_path_factory.mktemp("open") / "data"
    with InProcessSite(folder, registration="open") as site:
        yield site


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


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
