"""Installs by day, for charts."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "installs_by_day",
        sa.Column(
            "widget_id",
            sa.BigInteger().with_variant(sa.Integer, "sqlite"),
            sa.ForeignKey("widgets.id", name="fk_installs_by_day_widget_id"),
            primary_key=True,
            autoincrement=False,
        ),
        sa.Column("day", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("widget_id", "day", name="pk_installs_by_day"),
        sqlite_with_rowid=False,
    )
