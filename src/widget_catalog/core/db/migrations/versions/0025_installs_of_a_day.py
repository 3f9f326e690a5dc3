"""An index of the installs by day, for the trending widgets."""

from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None
oldest_writer = "0024"


def upgrade() -> None:
    op.create_index("ix_installs_by_day_day", "installs_by_day", ["day"])
