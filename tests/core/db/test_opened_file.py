"""A database file that is removed or replaced while it is open accepts no more writes."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from widget_catalog.catalog.store.tables import widgets
from widget_catalog.core.db.engine import Store
from widget_catalog.core.db.migrate import migrate
from widget_catalog.core.db.sqlite import sqlite_engine
from widget_catalog.core.errors import DataDamaged, StoreUnavailable


@pytest.fixture
def heard() -> list[DataDamaged]:
    return []


@pytest.fixture
def opened(tmp_path: Path, heard: list[DataDamaged]) -> Iterator[Store]:
    store = Store(sqlite_engine(tmp_path / "catalog.db"), tmp_path / "lock", on_damage=heard.append)
    migrate(store)
    yield store
    store.close()


def _remove_all(database: Path) -> None:
    for file in database.parent.glob("catalog.db*"):
        file.unlink()


def _replace(database: Path) -> None:
    shutil.copy(database, database.with_name("other"))
    database.with_name("other").replace(database)


def _remove_log(database: Path) -> None:
    database.with_name("catalog.db-wal").unlink()


@pytest.mark.parametrize("lose", [_remove_all, Path.unlink, _replace, _remove_log])
def test_a_lost_file_is_noticed_before_a_write_and_made_by_nobody(
    opened: Store, tmp_path: Path, heard: list[DataDamaged], lose: Callable[[Path], None]
) -> None:
    lose(tmp_path / "catalog.db")
    before = sorted(tmp_path.iterdir())

    for _ in range(2):
        with pytest.raises(DataDamaged, match="gone or was replaced"), opened.writing():
            pytest.fail("It was written to.")
    with pytest.raises(DataDamaged), opened.reading():
        pytest.fail("It was read.")

    assert len(heard) == 3
    assert sorted(tmp_path.iterdir()) == before


def test_a_write_during_which_the_file_is_lost_is_not_acknowledged(
    opened: Store, tmp_path: Path
) -> None:
    def write() -> None:
        with opened.writing() as tx:
            tx.connection.execute(sa.text("PRAGMA user_version = 7"))
            (tmp_path / "catalog.db").unlink()

    with pytest.raises(DataDamaged):
        write()


def test_a_closed_store_can_be_opened_again_although_its_log_is_a_new_one(
    opened: Store, tmp_path: Path
) -> None:
    opened.close()
    assert not (tmp_path / "catalog.db-wal").exists()

    with opened.writing() as tx:
        tx.connection.execute(sa.text("PRAGMA user_version = 7"))


def test_no_connection_makes_a_file_unless_it_may(tmp_path: Path) -> None:
    store = Store(sqlite_engine(tmp_path / "catalog.db", may_create=False))

    with pytest.raises(DataDamaged), store.reading():
        pytest.fail("There is nothing to read.")

    assert list(tmp_path.iterdir()) == []


def test_no_error_has_a_statement_or_its_values(opened: Store) -> None:
    row = {"id": 1, "scope": "secret-value", "name": None}

    with pytest.raises(StoreUnavailable) as caught, opened.writing() as tx:
        tx.connection.execute(sa.insert(widgets).values(**row))

    assert "INSERT" not in f"{caught.value} {caught.value.__cause__}"
    assert "secret-value" not in f"{caught.value.__context__}"
