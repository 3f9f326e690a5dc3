"""Creates the tables of a new database, or upgrades one of an older release."""

from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ..errors import NewerDatabase, OlderDatabase
from .engine import Store
from .schema import metadata
from .tables import load_tables

MIGRATIONS = Path(__file__).parent / "migrations"

# The newest migration, and the schema version of this release.
SCHEMA = "0023"
# The oldest schema that can be upgraded.
BASELINE = "0022"


def migrate(store: Store) -> None:
    """Create missing tables and apply missing migrations, under the writer lock."""
    with store.reading() as connection:
        is_current = _schema_of(connection) == SCHEMA and not _missing_tables(connection)
    if not is_current:
        _upgrade(store)


def is_new(store: Store) -> bool:
    """Whether it has no tables yet."""
    with store.reading() as connection:
        return _schema_of(connection) is None


def check_schema(store: Store) -> None:
    """Raises OlderDatabase or NewerDatabase if it is not of this release. Changes nothing."""
    with store.reading() as connection:
        current = _schema_of(connection)
    if current is None:
        raise OlderDatabase(
            "This database has no tables yet. Start the service or run doctor: both create them."
        )
    check_upgradable(current)
    if current != SCHEMA:
        raise OlderDatabase(
            f"This database was made by an older release of Widget Catalog (its schema is "
            f"{current!r}, of this release {SCHEMA!r}). Make a backup, then start the service or "
            "run doctor: both upgrade it, as every command but backup and stats does. To go back "
            "to the older release later, restore that backup."
        )


def check_upgradable(schema: str) -> None:
    """Raises OlderDatabase or NewerDatabase if this release cannot upgrade this schema."""
    if schema > SCHEMA:
        raise NewerDatabase(
            f"This database was made by a newer release of Widget Catalog (its schema is "
            f"{schema!r}). Start that release, or restore a backup made with this one."
        )
    if schema < BASELINE:
        raise OlderDatabase(
            f"This database was made by release 0.1.0 of Widget Catalog, or by a development "
            f"version after it (its schema is {schema!r}, and the oldest that is upgraded is "
            f"{BASELINE!r}). Run the command export of the release that made it, and import the "
            "file into a new data folder."
        )


def _schema_of(connection: Connection) -> str | None:
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()


def _missing_tables(connection: Connection) -> set[str]:
    """Those of a new database, or of features that were added to an existing one."""
    load_tables()
    return metadata.tables.keys() - set(sa.inspect(connection).get_table_names())


def _upgrade(store: Store) -> None:
    # Imported only if there is something to do: Alembic takes a quarter of a second to load.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with store.publishing() as tx:
        config.attributes["connection"] = tx.connection
        current = _schema_of(tx.connection)
        if current is None:
            command.stamp(config, "head")
        else:
            check_upgradable(current)
            command.upgrade(config, "head")
        if _missing_tables(tx.connection):
            metadata.create_all(tx.connection)
