"""The read model is a separate file; its tables are removed from the database."""

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # They were created outside the migrations, and only on SQLite.
    for table in ("listings", "documents", "read_model"):
        op.execute(f"DROP TABLE IF EXISTS {table}")
