"""Revoked versions."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    number = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    op.create_table(
        "revocations",
        sa.Column("widget_id", number, nullable=False),
        sa.Column("identity", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("revoked_at", sa.BigInteger, nullable=False),
        sa.Column("checksum", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("widget_id", "identity", name="pk_revocations"),
        sa.ForeignKeyConstraint(
            ["widget_id"], ["widgets.id"], name="fk_revocations_widget_id_widgets"
        ),
        sqlite_with_rowid=False,
    )
