"""The schema of release 0.1.0: widgets, versions, download counts and the feed."""

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """There is nothing before it. A new database is created from the tables in the code."""
