"""Signing keys are no longer in the database, and so not in backups."""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_table("secrets")
