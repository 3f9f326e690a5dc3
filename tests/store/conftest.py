"""Every test here runs on SQLite and on a real PostgreSQL: one contract, two backends."""

import itertools
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from widget_catalog.store.engine import Store, postgresql_engine, sqlite_engine
from widget_catalog.store.migrate import migrate

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)

_numbers = itertools.count()


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "sqlite":
        made = Store(sqlite_engine(tmp_path / "catalog.db"), tmp_path / "lock", now=lambda: NOW)
    else:
        url = _fresh_database(request.getfixturevalue("postgresql_url"))
        made = Store(postgresql_engine(url), now=lambda: NOW)
    yield made
    made.close()


@pytest.fixture
def store(empty_store: Store) -> Store:
    migrate(empty_store)
    return empty_store


def _fresh_database(server_url: str) -> str:
    name = f"catalog_{next(_numbers)}_{id(_numbers):x}"
    engine = postgresql_engine(server_url).execution_options(isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name} TEMPLATE template0"))
    engine.dispose()
    return sa.make_url(server_url).set(database=name).render_as_string(hide_password=False)
