"""Reports from visitors about widgets."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

_NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "reports",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("scope", _NAME, nullable=False),
        sa.Column("name", _NAME, nullable=False),
        sa.Column("version", sa.Text),
        sa.Column("category", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("contact", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("decided_by", sa.Text),
        sa.Column("decided_at", sa.BigInteger),
        sa.Column("note", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_reports"),
    )
    op.create_index("ix_reports_state_created_at", "reports", ["state", "created_at"])
