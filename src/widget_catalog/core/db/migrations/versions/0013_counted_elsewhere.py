"""Counts have the transaction that changed them, so that other nodes find new ones."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("downloads", sa.Column("changed_in", sa.BigInteger()))
    op.create_index(
        "ix_downloads_changed_in",
        "downloads",
        ["changed_in"],
        sqlite_where=sa.text("changed_in IS NOT NULL"),
    )
