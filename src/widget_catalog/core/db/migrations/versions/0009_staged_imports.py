"""Imports are staged, and written to the catalog in short transactions."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "imports",
        sa.Column("id", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("file_name", sa.Text, nullable=False),
        sa.Column("release", sa.Text, nullable=False),
        sa.Column("accepted_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("id", name="pk_imports"),
    )
    op.create_table(
        "staged_batches",
        sa.Column("number", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("drafts", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_staged_batches"),
    )
    op.create_table(
        "staged_widgets",
        sa.Column("scope", _NAME, nullable=False),
        sa.Column("name", _NAME, nullable=False),
        sa.Column("batch", _NUMBER, autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("scope", "name", "batch", name="pk_staged_widgets"),
    )
    op.create_index("ix_staged_widgets_batch", "staged_widgets", ["batch"])
