"""Migrates a database to this release's schema, or refuses one of a newer release."""

from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ..errors import NewerDatabase, OlderDatabase
from .engine import Store

MIGRATIONS = Path(__file__).parent / "migrations"

# The newest migration, and the schema version of this release.
SCHEMA = "0022"


def migrate(store: Store) -> None:
    """Apply missing migrations. Safe to call concurrently: the writer lock is held."""
    with store.reading() as connection:
        current = _schema_of(connection)
    if current != SCHEMA:
        _upgrade(store)


def is_new(store: Store) -> bool:
    """Whether it has no tables yet."""
    with store.reading() as connection:
        return _schema_of(connection) is None


def check_schema(store: Store) -> None:
    """Raises OlderDatabase or NewerDatabase if it is not of this release. Changes nothing."""
    with store.reading() as connection:
        current = _schema_of(connection)
    if current is not None and current > SCHEMA:
        raise _newer(current)
    if current is None:
        raise OlderDatabase(
            "This database has no tables yet. Start the service or run doctor: both create them."
        )
    if current != SCHEMA:
        raise OlderDatabase(
            f"This database was made by an older release of Widget Catalog (its schema is "
            f"{current!r}, of this release {SCHEMA!r}). Make a backup, then start the service or "
            "run doctor: both upgrade it, as every command but backup and stats does. To go back "
            "to the older release later, restore that backup."
        )


def _schema_of(connection: Connection) -> str | None:
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()


def _upgrade(store: Store) -> None:
    # Imported only if there is something to do: Alembic takes a quarter of a second to load.
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    known = {it.revision for it in ScriptDirectory.from_config(config).walk_revisions()}
    with store.publishing() as tx:
        current = _schema_of(tx.connection)
        if current is not None and current not in known:
            raise _newer(current)
        config.attributes["connection"] = tx.connection
        command.upgrade(config, "head")


def _newer(schema: str) -> NewerDatabase:
    return NewerDatabase(
        f"This database was made by a newer release of Widget Catalog (its schema is "
        f"{schema!r}). Start that release, or restore a backup made with this one."
    )
