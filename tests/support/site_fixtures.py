"""Sites in this process: with the demo catalog, with open registration, with people.

`conftest.py` loads these fixtures for all tests.
"""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.demo_site import running_demo_site
from support.passwords import quick_passwords
from support.postgresql import a_database
from support.run_folder import made_once
from support.site import SECRET_KEY, InProcessSite
from support.site_with_people import BuiltPeople, MovableClock, People, build_people

# The file with the headers of all people.
_HEADERS = "headers.json"


@pytest.fixture(scope="module")
def demo_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessSite]:
    with running_demo_site(tmp_path_factory.mktemp("demo") / "data") as site:
        yield site


@pytest.fixture(scope="module")
def open_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessSite]:
    folder = tmp_path_factory.mktemp("open") / "data"
    with InProcessSite(folder, registration="open") as site:
        yield site


@pytest.fixture
def site_on_each_database(
    backend: str, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[InProcessSite]:
    """For modules whose sites run on PostgreSQL, too."""
    with contextlib.ExitStack() as stack:
        settings: dict[str, Any] = {}
        if backend == "postgresql":
            database = stack.enter_context(a_database(request.getfixturevalue("postgresql_url")))
            settings = {"database": database, "secret_key": SECRET_KEY}
        yield stack.enter_context(InProcessSite(tmp_path / "data", **settings))


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture(scope="session")
def built_people() -> BuiltPeople:
    folder = made_once("people", _build_people)
    return BuiltPeople(folder / "data", json.loads((folder / _HEADERS).read_text()))


def _build_people(folder: Path) -> None:
    with quick_passwords():
        built = build_people(folder / "data")
    (folder / _HEADERS).write_text(json.dumps(built.headers))


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
