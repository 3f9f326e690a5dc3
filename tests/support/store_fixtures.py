"""Stores: a test of one runs on SQLite and on a real PostgreSQL: one contract, two backends.

`conftest.py` loads these fixtures for all tests.
"""

import contextlib
import itertools
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from core.db.next_migration import add_next_step, use_migrations
from support.postgresql import a_database, execute, new_database
from widget_catalog.core.db import migrate as migrating
from widget_catalog.core.db.engine import Store
from widget_catalog.core.db.migrate import migrate
from widget_catalog.core.db.postgresql import postgresql_engine
from widget_catalog.core.db.sqlite import sqlite_engine

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)

_numbers = itertools.count()


@pytest.fixture(scope="module")
def database(postgresql_url: str) -> Iterator[str]:
    """The URL of a PostgreSQL database with all tables."""
    with a_database(postgresql_url) as made:
        yield made


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def empty_store(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A store without tables."""
    if backend == "sqlite":
        made = Store(sqlite_engine(tmp_path / "catalog.db"), tmp_path / "lock", now=lambda: NOW)
    else:
        url = _fresh_schema(request.getfixturevalue("postgresql_database"))
        made = Store(postgresql_engine(url), now=lambda: NOW)
    yield made
    made.close()


@pytest.fixture
def store(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A copy of one with all tables: migrating takes seven times as long."""
    with contextlib.ExitStack() as stack:
        if backend == "sqlite":
            file = tmp_path / "catalog.db"
            file.write_bytes(request.getfixturevalue("migrated_sqlite"))
            made = Store(sqlite_engine(file), tmp_path / "lock", now=lambda: NOW)
        else:
            server = request.getfixturevalue("postgresql_url")
            url = stack.enter_context(a_database(server))
            made = Store(postgresql_engine(url), now=lambda: NOW)
        stack.callback(made.close)
        yield made


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("migrated")
    store = Store(sqlite_engine(folder / "catalog.db"), folder / "lock")
    migrate(store)
    store.close()
    return (folder / "catalog.db").read_bytes()


@pytest.fixture(scope="session")
def postgresql_database(postgresql_url: str) -> str:
    """A separate database for this process, because the writer lock is per database."""
    return new_database(postgresql_url)


def _fresh_schema(database_url: str) -> str:
    """A schema without tables; creating a whole database would write 7 MB."""
    name = f"catalog_{next(_numbers)}"
    execute(database_url, f"CREATE SCHEMA {name}")
    address = sa.make_url(database_url).update_query_dict({"options": f"-csearch_path={name}"})
    return address.render_as_string(hide_password=False)


@pytest.fixture
def next_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """This release has one more migration; its file."""
    monkeypatch.setattr(migrating, "MIGRATIONS", migrating.MIGRATIONS)
    monkeypatch.setattr(migrating, "SCHEMA", migrating.SCHEMA)
    step = add_next_step(tmp_path / "migrations")
    use_migrations(tmp_path / "migrations")
    return step
