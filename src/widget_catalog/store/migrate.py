"""Brings a database to this release's schema, or refuses one from a newer release."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from ..domain.errors import NewerDatabase
from .engine import Store

_MIGRATIONS = Path(__file__).parent / "migrations"


def migrate(store: Store) -> None:
    """Apply what is missing. Safe to call by several processes: the writer lock is held."""
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    scripts = ScriptDirectory.from_config(config)
    with store.writing() as tx:
        current = MigrationContext.configure(tx.connection).get_current_revision()
        if current == scripts.get_current_head():
            return
        known = {script.revision for script in scripts.walk_revisions()}
        if current is not None and current not in known:
            raise NewerDatabase(
                f"This database was made by a newer release of Widget Catalog (its schema is "
                f"{current!r}). Start that release, or restore a backup made with this one."
            )
        config.attributes["connection"] = tx.connection
        command.upgrade(config, "head")
