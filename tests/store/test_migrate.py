"""Migrations make the schema that the code is written against."""

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from widget_catalog.domain.errors import NewerDatabase
from widget_catalog.store.engine import Store
from widget_catalog.store.migrate import MIGRATIONS, SCHEMA, migrate
from widget_catalog.store.schema import metadata


def test_the_migrated_schema_is_the_one_in_the_code(store: Store) -> None:
    with store.reading() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, metadata) == []


def test_the_schema_of_this_release_is_the_newest_migration() -> None:
    assert ScriptDirectory(str(MIGRATIONS)).get_current_head() == SCHEMA


def test_migrating_again_changes_nothing(store: Store) -> None:
    migrate(store)
    migrate(store)


def test_a_database_from_a_newer_release_is_refused(store: Store) -> None:
    with store.writing() as tx:
        tx.connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))

    with pytest.raises(NewerDatabase, match="newer release"):
        migrate(store)
