"""Keys that sign are no longer in the database, where every backup has them."""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_table("secrets")
