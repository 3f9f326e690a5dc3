"""Migrations create the schema that the code expects."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from widget_catalog.app.tables import connect_all_tables
from widget_catalog.catalog.store.audit import list_entries
from widget_catalog.catalog.store.feed import list_changes
from widget_catalog.core.db.engine import Store, Transaction, sqlite_engine
from widget_catalog.core.db.migrate import MIGRATIONS, SCHEMA, migrate
from widget_catalog.core.db.schema import load_tables, metadata, widgets
from widget_catalog.core.errors import NewerDatabase


def test_the_migrated_schema_is_the_one_in_the_code(store: Store) -> None:
    with store.reading() as connection:
        context = MigrationContext.configure(connection)
        connect_all_tables()
        load_tables()
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


@pytest.fixture
def older(tmp_path: Path) -> Iterator[Store]:
    """A database of the release before invitations depended on their inviter."""
    made = Store(sqlite_engine(tmp_path / "older.db"), tmp_path / "lock")
    upgrade_to(made, "0002")
    yield made
    made.close()


def test_only_invitations_that_could_still_be_made_outlive_the_upgrade(older: Store) -> None:
    people = {"ann": "owner", "abe": "admin", "mia": "member", "dis": "owner", "gone": None}
    with older.writing() as tx:
        add = partial(insert, tx)
        add("scopes", name="acme", kind="organization", created_at=0)
        add("organizations", id=1, slug="acme", display_name="Acme", created_at=0)
        for number, (name, role) in enumerate(people.items()):
            add("scopes", name=name, kind="personal", created_at=0)
            add(
                "accounts", id=number, username=name, email=name, email_key=name,
                is_operator=False, is_disabled=name == "dis", created_at=0,
            )  # fmt: skip
            if role is not None:
                add("memberships", organization_id=1, account_id=number, role=role, since=0)
            for invited_as in ("owner", "member"):
                add(
                    "invitations", id=f"{name} {invited_as}", organization_id=1, role=invited_as,
                    invited_by=name, created_at=0, expires_at=1,
                )  # fmt: skip
        add(
            "invitations", id="catalog", role="author", invited_by="operator", created_at=0,
            expires_at=1,
        )  # fmt: skip

    migrate(older)

    with older.reading() as connection:
        query = sa.text("SELECT id, inviter_id FROM invitations ORDER BY id")
        kept = [tuple(row) for row in connection.execute(query)]
    assert kept == [("abe member", 1), ("ann member", 0), ("ann owner", 0), ("catalog", None)]


def test_widgets_made_by_publishing_are_not_official_and_imported_ones_stay_unsaid(
    empty_store: Store,
) -> None:
    """An audit entry with the widget's creation time shows that it was published."""
    upgrade_to(empty_store, "0003")
    known = {"scope": "ann", "display_name": "x", "is_listed": True, "created_at": 1000}
    entry = {"actor": "ann", "via": "oauth", "action": "publish", "scope": "ann", "details": "{}"}
    with empty_store.writing() as tx:
        for id_, name, is_official, published_at in (
            (1, "published", None, 1000),
            (2, "imported", None, 2000),
            (3, "marked", True, 1000),
        ):
            insert(tx, "widgets", id=id_, name=name, is_official=is_official, **known)
            insert(tx, "audit", at=published_at, name=name, **entry)

    migrate(empty_store)

    with empty_store.reading() as connection:
        query = sa.select(widgets.c.name, widgets.c.is_official).order_by(widgets.c.id)
        assert [tuple(row) for row in connection.execute(query)] == [
            ("published", False),
            ("imported", None),
            ("marked", True),
        ]


def test_old_feeds_say_what_happened_as_far_as_the_audit_log_knows(empty_store: Store) -> None:
    upgrade_to(empty_store, "0009")
    said = {"actor": "ann", "via": "oauth", "scope": "ann", "details": '{"reason": "x"}'}
    with empty_store.writing() as tx:
        for id_, name in ((1, "clock"), (2, "board")):
            insert(
                tx, "widgets", id=id_, scope="ann", name=name, display_name="x", is_listed=True,
                created_at=1000,
            )  # fmt: skip
        for seq, (widget_id, at) in enumerate(
            [(1, 1000), (2, 1000), (1, 2000), (2, 3000), (1, 4000), (1, 5000)], start=1
        ):
            insert(tx, "changes", seq=seq, widget_id=widget_id, scope="ann", changed_at=at)
        lines: list[tuple[int, str, str | None, str | None]] = [
            (1000, "publish", "clock", "1.0.0"),
            (1000, "import", None, None),
            (2000, "yank", "clock", "1.0.0"),
            (3000, "name publishers", "board", None),
            (4000, "redate", "clock", "1.1.0"),
            (4000, "redate", "clock", "1.0.0"),
            (5000, "make official", "clock", None),
            (6000, "failed sign-in", None, None),
            (7000, "as no release has called it", None, None),
        ]
        for at, action, of_widget, version in lines:
            insert(tx, "audit", at=at, action=action, name=of_widget, version=version, **said)

    migrate(empty_store)

    with empty_store.reading() as connection:
        assert [(it.widget_id, it.kind, it.version) for it in list_changes(connection, 0)] == [
            (1, "published", "1.0.0"),
            (2, "imported", None),
            (1, "yanked", "1.0.0"),
            (2, "imported", None),
            (1, "redated", "1.1.0"),
            (1, "official", None),
        ]
        entries, _ = list_entries(connection, None, None, 1, 100)
        kinds = connection.execute(sa.text("SELECT kind FROM audit ORDER BY seq")).scalars().all()
    assert [it.action for it in reversed(entries)] == [
        "publish", "import", "yank", "name publishers", "redate", "redate", "make official",
        "failed sign-in", "as no release has called it",
    ]  # fmt: skip
    assert kinds == [
        "published", "import", "yanked", "publishers", "redated", "redated", "official",
        "sign_in_failed", "as no release has called it",
    ]  # fmt: skip
    assert {it.details["reason"] for it in entries} == {"x"}


def upgrade_to(store: Store, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with store.writing() as tx:
        config.attributes["connection"] = tx.connection
        command.upgrade(config, revision)


def insert(tx: Transaction, table: str, **values: object) -> None:
    names = ", ".join(values)
    places = ", ".join(f":{name}" for name in values)
    tx.connection.execute(sa.text(f"INSERT INTO {table} ({names}) VALUES ({places})"), values)
