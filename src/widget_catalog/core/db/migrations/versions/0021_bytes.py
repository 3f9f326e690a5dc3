"""Files that are being removed, and bundles that are revoked everywhere."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "file_removals",
        sa.Column("sha256_hash", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("sha256_hash", "kind", name="pk_file_removals"),
    )
    op.create_table(
        "revoked_bytes",
        sa.Column("sha256_hash", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("revoked_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("sha256_hash", name="pk_revoked_bytes"),
    )
