"""Removes the table of the snapshot that was loaded last: mirrors follow static sites instead."""

import logging

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None
oldest_writer = "0024"


def upgrade() -> None:
    connection = op.get_bind()
    if not sa.inspect(connection).has_table("loaded_snapshots"):
        return
    if connection.execute(sa.text("SELECT 1 FROM loaded_snapshots")).first() is not None:
        # Not structlog, which commands do not configure: it would print to standard output.
        logging.getLogger("widget_catalog.store").warning(
            "This catalog was loaded from a snapshot. Snapshots do not exist any more: the catalog "
            "stays as it is, but cannot load another one. To follow its origin, mirror a static "
            "site of it into a new data folder."
        )


def contract() -> None:
    if sa.inspect(op.get_bind()).has_table("loaded_snapshots"):
        op.drop_table("loaded_snapshots")
