"""An index of the installs by day, for the trending widgets."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None
oldest_writer = "0024"


def upgrade() -> None:
    # A database of 0.1.0 gets the table later, with the index.
    if sa.inspect(op.get_bind()).has_table("installs_by_day"):
        op.create_index("ix_installs_by_day_day", "installs_by_day", ["day"])
