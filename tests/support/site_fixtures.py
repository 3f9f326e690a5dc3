"""Sites in this process: with the demo catalog, with open registration, with people.

`conftest.py` loads these fixtures for all tests.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.demo import import_demo
from support.passwords import quick_passwords
from support.site import InProcessSite
from support.site_with_people import BuiltPeople, MovableClock, People, build_people


@pytest.fixture(scope="module")
def demo_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessSite]:
    with InProcessSite(tmp_path_factory.mktemp("demo") / "data") as site:
        import_demo(site.node)
        yield site


@pytest.fixture(scope="module")
def open_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessSite]:
    folder = tmp_path_factory.mktemp("open") / "data"
    with InProcessSite(folder, registration="open") as site:
        yield site


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture(scope="session")
def built_people(tmp_path_factory: pytest.TempPathFactory) -> BuiltPeople:
    with quick_passwords():
        return build_people(tmp_path_factory.mktemp("people") / "data")


@pytest.fixture
def people(built_people: BuiltPeople, tmp_path: Path) -> Iterator[People]:
    with People(built_people, tmp_path / "data") as made:
        yield made


@pytest.fixture(scope="module")
def shared_people(
    built_people: BuiltPeople, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[People]:
    """Read-only."""
    with People(built_people, tmp_path_factory.mktemp("quiet") / "data") as made:
        yield made
