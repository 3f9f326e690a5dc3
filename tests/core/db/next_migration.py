"""A made-up migration after the newest one, as a later release would add it."""

import shutil
from pathlib import Path

from widget_catalog.core.db import migrate

NEXT = f"{int(migrate.SCHEMA) + 1:04}"
# It changes a table, adds one with data from another, and changes the table of a feature, if the
# database has it.
NEXT_STEP = f"""
import sqlalchemy as sa
from alembic import op

revision = "{NEXT}"
down_revision = "{migrate.SCHEMA}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("widgets", sa.Column("colour", sa.Text))
    op.create_table("colours", sa.Column("name", sa.Text, primary_key=True))
    op.execute("UPDATE widgets SET colour = 'red'")
    op.execute("INSERT INTO colours SELECT DISTINCT colour FROM widgets")
    for feature in ("organizations", "never_installed"):
        if sa.inspect(op.get_bind()).has_table(feature):
            op.add_column(feature, sa.Column("colour", sa.Text))
"""


def add_next_step(folder: Path) -> Path:
    """Copy the migrations to this folder, with one more. Returns its file."""
    shutil.copytree(migrate.MIGRATIONS, folder)
    step = folder / "versions" / f"{NEXT}_colours.py"
    step.write_text(NEXT_STEP)
    return step


def use_migrations(folder: Path) -> None:
    """In this process, as if this release had them."""
    migrate.MIGRATIONS = folder
    migrate.SCHEMA = NEXT
