"""A database has the schema that the code expects, however it came about."""

import contextlib
import lzma
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from core.db.next_migration import NEXT, NEXT_STEP
from core.db.old_folders import FIXTURES, open_fixture
from support.postgresql import new_database
from widget_catalog.core.db import migrate as migrating
from widget_catalog.core.db.engine import Store
from widget_catalog.core.db.migrate import (
    BASELINE,
    FIRST_RELEASE,
    MIGRATIONS,
    SCHEMA,
    check_schema,
    contract,
    migrate,
    plan,
)
from widget_catalog.core.db.postgresql import connection_string, postgresql_engine
from widget_catalog.core.db.schema import metadata
from widget_catalog.core.db.sqlite import sqlite_engine
from widget_catalog.core.errors import NewerDatabase, OlderDatabase
from widget_catalog.transfer.export_catalog import export_catalog, linked_to

# Afterwards only the next release can write.
CONTRACT = """

def contract() -> None:
    with op.batch_alter_table("widgets") as table:
        table.drop_column("colour")
"""


@pytest.fixture
def old_store(
    backend: str, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[tuple[Store, bytes]]:
    """A database of the oldest schema that is upgraded, and the export of its release."""
    folder = open_fixture(BASELINE, tmp_path)
    exported = (folder / "export.ndjson").read_bytes()
    if backend == "sqlite":
        engine = sqlite_engine(folder / "catalog.db")
        made = Store(engine, tmp_path / "lock")
    else:
        url = new_database(request.getfixturevalue("postgresql_url"))
        dump = (FIXTURES / f"{BASELINE}-postgresql.sql.xz").read_bytes()
        with psycopg.connect(connection_string(url)) as connection:
            connection.execute(lzma.decompress(dump))
        made = Store(postgresql_engine(url))
    with contextlib.closing(made):
        yield made, exported


def test_a_new_database_has_the_tables_in_the_code(store: Store) -> None:
    assert differences(store) == []
    assert schema_of(store) == SCHEMA


def test_an_old_database_has_the_tables_in_the_code_and_exports_the_same(
    old_store: tuple[Store, bytes],
) -> None:
    store, exported = old_store
    contract(store)

    assert differences(store) == []
    assert schema_of(store) == SCHEMA
    assert export_of(store) == exported


def test_a_database_of_the_first_release_has_the_tables_in_the_code(tmp_path: Path) -> None:
    folder = open_fixture(FIRST_RELEASE, tmp_path)
    with contextlib.closing(
        Store(sqlite_engine(folder / "catalog.db"), tmp_path / "lock")
    ) as store:
        contract(store)

        assert differences(store) == []
        assert schema_of(store) == SCHEMA
        assert export_of(store) == (folder / "export.ndjson").read_bytes()


def test_only_stored_bundles_are_in_their_index(store: Store) -> None:
    with store.reading() as connection:
        [index] = [
            index
            for index in sa.inspect(connection).get_indexes("versions")
            if index["name"] == "ix_versions_stored"
        ]
    condition = index["dialect_options"][f"{store.engine.dialect.name}_where"]
    assert "bundle_url is null" in str(condition).lower()


def test_the_schema_of_this_release_is_the_newest_migration() -> None:
    scripts = ScriptDirectory(str(MIGRATIONS))
    assert (scripts.get_current_head(), scripts.get_base()) == (SCHEMA, FIRST_RELEASE)


def test_migrating_again_changes_nothing(store: Store) -> None:
    migrate(store)
    migrate(store)


@pytest.mark.usefixtures("next_step")
def test_a_next_step_is_applied_to_a_database_with_data(old_store: tuple[Store, bytes]) -> None:
    store, exported = old_store
    with pytest.raises(OlderDatabase, match="older release"):
        check_schema(store)

    migrate(store)
    migrate(store)
    check_schema(store)

    with store.reading() as connection:
        colours = connection.execute(sa.text("SELECT name FROM colours")).scalars().all()
        tables = {
            table: {it["name"] for it in sa.inspect(connection).get_columns(table)}
            for table in ("widgets", "organizations")
        }
    assert colours == ["red"]
    assert all("colour" in it for it in tables.values())
    assert schema_of(store) == NEXT
    assert export_of(store) == exported


def test_a_release_can_use_the_schema_of_the_next_one_until_it_is_contracted(
    store: Store, next_step: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    next_step.write_text(f"oldest_writer = '{SCHEMA}'\n{NEXT_STEP}{CONTRACT}")
    migrate(store)
    with monkeypatch.context() as this_release:
        this_release.setattr(migrating, "SCHEMA", SCHEMA)
        check_schema(store)
        migrate(store)
        assert schema_of(store) == NEXT

    assert [it.revision for it in plan(store).to_contract] == [NEXT]
    assert "colour" in columns_of(store, "widgets")
    assert [it.revision for it in contract(store)] == [NEXT]

    assert contract(store) == []
    assert plan(store).oldest_writer == NEXT
    assert "colour" not in columns_of(store, "widgets")
    monkeypatch.setattr(migrating, "SCHEMA", SCHEMA)
    for refuses in (migrate, check_schema, contract):
        with pytest.raises(NewerDatabase, match="newer release"):
            refuses(store)


def test_the_release_after_the_next_contracts_by_itself(store: Store, next_step: Path) -> None:
    next_step.write_text(f"oldest_writer = '{SCHEMA}'\n{NEXT_STEP}{CONTRACT}")
    migrate(store)
    later = f"{int(NEXT) + 1:04}"
    step = NEXT_STEP.replace(f'"{NEXT}"', f'"{later}"').replace(f'"{SCHEMA}"', f'"{NEXT}"')
    upgrade = "def upgrade() -> None:\n    pass\n"
    step = step[: step.index("def upgrade")] + upgrade
    (next_step.parent / f"{later}_nothing.py").write_text(f"oldest_writer = '{NEXT}'\n{step}")
    migrating.SCHEMA = later

    migrate(store)

    assert "colour" not in columns_of(store, "widgets")
    assert plan(store).oldest_writer == NEXT
    assert [it.revision for it in plan(store).to_contract] == [later]


def test_a_step_that_fails_changes_nothing(old_store: tuple[Store, bytes], next_step: Path) -> None:
    next_step.write_text(f"{NEXT_STEP}    raise RuntimeError('It fails.')\n")
    store, exported = old_store

    with pytest.raises(RuntimeError, match="It fails"):
        migrate(store)

    assert schema_of(store) == BASELINE
    with store.reading() as connection:
        assert not sa.inspect(connection).has_table("colours")
        columns = {it["name"] for it in sa.inspect(connection).get_columns("widgets")}
    assert "colour" not in columns
    next_step.write_text(NEXT_STEP)
    migrate(store)
    assert export_of(store) == exported


@pytest.mark.usefixtures("next_step")
def test_a_new_database_begins_with_the_newest_schema(empty_store: Store) -> None:
    """It is created from the tables in the code, so no step is applied to it."""
    migrate(empty_store)

    assert schema_of(empty_store) == NEXT
    assert differences(empty_store) == []


def test_tables_of_a_feature_that_was_added_are_created(store: Store) -> None:
    with store.writing() as tx:
        for table in ("publications", "publish_requests"):
            tx.connection.execute(sa.text(f"DROP TABLE {table}"))

    migrate(store)

    assert differences(store) == []


def test_a_database_that_only_newer_releases_can_write_to_is_refused(store: Store) -> None:
    with store.writing() as tx:
        tx.connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
        tx.connection.execute(sa.text("UPDATE schema_support SET oldest_writer = '9999'"))

    for refuses in (migrate, check_schema):
        with pytest.raises(NewerDatabase, match="newer release"):
            refuses(store)


def test_a_database_of_a_development_version_before_the_baseline_is_refused(store: Store) -> None:
    with store.writing() as tx:
        tx.connection.execute(sa.text("UPDATE alembic_version SET version_num = '0021'"))

    for refuses in (migrate, check_schema):
        with pytest.raises(OlderDatabase, match=r"development.*'0021'.*export.*import"):
            refuses(store)
    assert schema_of(store) == "0021"


def differences(store: Store) -> list[object]:
    """Apart from tables of rooms that are not installed, which stay."""

    def is_compared(name: str | None, kind: str, _parents: object) -> bool:
        return kind != "table" or name in metadata.tables

    with store.reading() as connection:
        context = MigrationContext.configure(connection, opts={"include_name": is_compared})
        return list(compare_metadata(context, metadata))


def schema_of(store: Store) -> str:
    with store.reading() as connection:
        query = sa.text("SELECT version_num FROM alembic_version")
        return str(connection.execute(query).scalar_one())


def columns_of(store: Store, table: str) -> set[str]:
    with store.reading() as connection:
        return {it["name"] for it in sa.inspect(connection).get_columns(table)}


def export_of(store: Store) -> bytes:
    return b"".join(export_catalog(store, linked_to("https://catalog.example/cdn")))


def test_a_loaded_snapshot_is_reported_once_and_its_table_goes_at_the_end(
    old_store: tuple[Store, bytes], caplog: pytest.LogCaptureFixture
) -> None:
    store, _ = old_store
    migrate(store)
    migrate(store)
    said = [it for it in caplog.messages if "snapshot" in it]
    assert ["mirror a static site" in it for it in said] == [True]
    with store.reading() as connection:
        assert sa.inspect(connection).has_table("loaded_snapshots")

    contract(store)

    with store.reading() as connection:
        assert not sa.inspect(connection).has_table("loaded_snapshots")
