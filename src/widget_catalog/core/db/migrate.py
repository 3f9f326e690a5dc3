"""Creates the tables of a new database, or upgrades one of an older release.

An upgrade has two parts. *Expand* adds what the new release needs, and nodes of the old release go
on writing if the migration says that they can (`oldest_writer`). *Contract* removes what only the
old release needed, and ends its writing: a command, or the next release's expand.
"""

from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ..errors import NewerDatabase, OlderDatabase
from .engine import Store
from .schema import metadata, schema_support
from .tables import load_tables

if TYPE_CHECKING:
    from alembic.config import Config

MIGRATIONS = Path(__file__).parent / "migrations"

# The newest migration, and the schema version of this release.
SCHEMA = "0028"
# That of release 0.1.0, and the oldest since: between them are development versions only, which
# cannot be upgraded.
FIRST_RELEASE, BASELINE = "0001", "0022"


@dataclass(frozen=True)
class Step:
    """A migration: a module with `upgrade`, and perhaps `contract` and `oldest_writer`."""

    revision: str
    about: str
    oldest_writer: str
    """The oldest schema whose releases may still write after `upgrade`; its own if not stated."""
    module: ModuleType


@dataclass(frozen=True)
class Plan:
    schema: str | None
    """None: the database has no tables yet."""
    oldest_writer: str
    to_expand: list[Step]
    to_contract: list[Step]


def migrate(store: Store) -> None:
    """Create missing tables and expand, under the writer lock."""
    with store.reading() as connection:
        schema = _schema_of(connection)
        is_current = schema == SCHEMA and not _missing_tables(connection)
    if schema is not None and schema > SCHEMA:
        check_schema(store)
    elif not is_current:
        with store.publishing() as tx:
            tx.wake_nodes()
            _expand(tx.connection)


def contract(store: Store) -> list[Step]:
    """Remove what only older releases need: they can no longer write. Returns the steps."""
    migrate(store)
    with store.publishing() as tx:
        tx.wake_nodes()
        steps = _uncontracted(tx.connection)
        if _schema_of(tx.connection) == SCHEMA:
            _contract(tx.connection, steps)
            _set_oldest_writer(tx.connection, SCHEMA)
        return steps


def plan(store: Store) -> Plan:
    """What expand and contract would do. Changes nothing."""
    with store.reading() as connection:
        schema = _schema_of(connection)
        if schema is None:
            return Plan(None, SCHEMA, [], [])
        oldest_writer = _oldest_writer(connection, schema)
        _require_usable(schema, oldest_writer)
        pending = [it for it in _steps() if it.revision > schema]
        return Plan(schema, oldest_writer, pending, _uncontracted(connection) + pending)


def is_new(store: Store) -> bool:
    """Whether it has no tables yet."""
    with store.reading() as connection:
        return _schema_of(connection) is None


def check_schema(store: Store) -> None:
    """Raises OlderDatabase or NewerDatabase if this release cannot use it. Changes nothing."""
    with store.reading() as connection:
        current = _schema_of(connection)
        if current is None:
            raise OlderDatabase(
                "This database has no tables yet. Start the service or run doctor: both create "
                "them."
            )
        _require_usable(current, _oldest_writer(connection, current))
    if current < SCHEMA:
        raise OlderDatabase(
            f"This database was made by an older release of Widget Catalog (its schema is "
            f"{current!r}, of this release {SCHEMA!r}). Make a backup, then start the service or "
            "run migrate --expand: both upgrade it, as every command but backup and stats does. To "
            "go back to the older release later, restore that backup, unless migrate --plan says "
            "that it can still write."
        )


def check_upgradable(schema: str) -> None:
    """Raises OlderDatabase or NewerDatabase if this release cannot upgrade this schema."""
    _require_usable(schema, schema)


def _require_usable(schema: str, oldest_writer: str) -> None:
    if oldest_writer > SCHEMA:
        raise NewerDatabase(
            f"This database was made by a newer release of Widget Catalog (its schema is "
            f"{schema!r}). Start that release, or restore a backup made with this one."
        )
    if FIRST_RELEASE < schema < BASELINE:
        raise OlderDatabase(
            f"This database was made by a development version of Widget Catalog after release "
            f"0.1.0 (its schema is {schema!r}, and after {FIRST_RELEASE!r} the oldest that is "
            f"upgraded is {BASELINE!r}). Run the command export of the version that made it, and "
            "import the file into a new data folder."
        )


def _schema_of(connection: Connection) -> str | None:
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()


def _oldest_writer(connection: Connection, schema: str) -> str:
    """Its own schema, if the database is older than this table."""
    if not sa.inspect(connection).has_table(schema_support.name):
        return schema
    return connection.execute(sa.select(schema_support.c.oldest_writer)).scalar() or schema


def _set_oldest_writer(connection: Connection, schema: str) -> None:
    connection.execute(sa.delete(schema_support))
    connection.execute(sa.insert(schema_support).values(id=1, oldest_writer=schema))


def _missing_tables(connection: Connection) -> set[str]:
    """Those of a new database, or of features that were added to an existing one."""
    load_tables()
    return metadata.tables.keys() - set(sa.inspect(connection).get_table_names())


def _expand(connection: Connection) -> None:
    # Imported only if there is something to do: Alembic takes a quarter of a second to load.
    from alembic import command

    config = _config(connection)
    current = _schema_of(connection)
    if current is None:
        command.stamp(config, "head")
        oldest_writer = SCHEMA
    else:
        oldest_writer = _oldest_writer(connection, current)
        _require_usable(current, oldest_writer)
        pending = [it for it in _steps() if it.revision > current]
        if pending:
            # Releases before the present one can no longer write.
            _contract(connection, _uncontracted(connection))
            oldest_writer = max(current, *(it.oldest_writer for it in pending))
            command.upgrade(config, "head")
    if _missing_tables(connection):
        metadata.create_all(connection)
    _set_oldest_writer(connection, oldest_writer)


def _uncontracted(connection: Connection) -> list[Step]:
    """Applied steps after which releases before them can still write."""
    schema = _schema_of(connection)
    if schema is None:
        return []
    oldest_writer = _oldest_writer(connection, schema)
    return [it for it in _steps() if oldest_writer < it.revision <= schema]


def _contract(connection: Connection, steps: list[Step]) -> None:
    if not any(hasattr(it.module, "contract") for it in steps):
        return
    from alembic.migration import MigrationContext
    from alembic.operations import Operations

    with Operations.context(MigrationContext.configure(connection)):
        for step in steps:
            if hasattr(step.module, "contract"):
                step.module.contract()


def _steps() -> list[Step]:
    """The migrations of this release, oldest first."""
    from alembic.script import ScriptDirectory

    found = ScriptDirectory.from_config(_config(None)).walk_revisions()
    return [
        Step(
            revision.revision,
            revision.doc.partition("\n")[0] if revision.doc else "",
            getattr(revision.module, "oldest_writer", revision.revision),
            revision.module,
        )
        for revision in reversed(list(found))
    ]


def _config(connection: Connection | None) -> "Config":
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    return config
