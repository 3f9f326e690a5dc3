"""A village for every test, and one for a whole module whose tests change nothing."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import argon2
import pytest

from support.village import BuiltVillage, Village, build_village
from widget_catalog.actions import credentials


@contextlib.contextmanager
def _quick_passwords() -> Iterator[None]:
    """The same hashing of passwords at the lowest cost: hundreds are checked here."""
    with pytest.MonkeyPatch.context() as patch:
        quick = argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
        patch.setattr(credentials, "_hasher", quick)
        credentials._nobodys_hash.cache_clear()
        yield
    credentials._nobodys_hash.cache_clear()


@pytest.fixture(scope="module", autouse=True)
def quick_passwords() -> Iterator[None]:
    with _quick_passwords():
        yield


@pytest.fixture(scope="session")
def built_village(tmp_path_factory: pytest.TempPathFactory) -> BuiltVillage:
    with _quick_passwords():
        return build_village(tmp_path_factory.mktemp("village") / "data")


@pytest.fixture
def village(built_village: BuiltVillage, tmp_path: Path) -> Iterator[Village]:
    with Village(built_village, tmp_path / "data") as made:
        yield made


@pytest.fixture(scope="module")
def quiet_village(
    built_village: BuiltVillage, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Village]:
    """To be looked at, and not to be changed."""
    with Village(built_village, tmp_path_factory.mktemp("quiet") / "data") as made:
        yield made
